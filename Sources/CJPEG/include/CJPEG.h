/// What this package asks of libjpeg-turbo. Its errors, which are long jumps, never leave this target.
#ifndef CJPEG_H
#define CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Asked at every row of blocks of every scan; true stops the decoding.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cjpeg_cancellation;

/// Why a call failed: libjpeg's own words, on one line.
typedef struct {
    char message[240];
} cjpeg_failure;

/// What the header says.
typedef struct {
    int width, height;
    /// 1 grey, 3 colour, 4 ink (CMYK or YCCK), which `cjpeg_start` doesn't take.
    int channels;
    /// What decoding holds in memory besides the rows that it gives: the whole picture's coefficients if the file has
    /// several scans.
    size_t memory;
} cjpeg_header;

/// A file that is open for decoding. One thread at a time.
typedef struct cjpeg_file cjpeg_file;

/// Reads a file's header. The bytes have to stay until `cjpeg_close`. Unless `allow_damage`, what is damaged or cut off
/// is an error as soon as it is met.
cjpeg_file *_Nullable cjpeg_open(
    const uint8_t *_Nonnull bytes, size_t count, bool allow_damage, cjpeg_cancellation cancellation,
    cjpeg_header *_Nonnull header, cjpeg_failure *_Nonnull failure);

/// The EXIF block, with the "Exif" before it, if there is one.
const uint8_t *_Nullable cjpeg_exif(const cjpeg_file *_Nonnull file, size_t *_Nonnull size);

/// The ICC profile, put together of its segments, if there is one. Free it with `free`.
uint8_t *_Nullable cjpeg_profile(cjpeg_file *_Nonnull file, size_t *_Nonnull size);

/// Begins to decode at `eighths`/8 of the size, 1 to 8, and says what size that is.
bool cjpeg_start(
    cjpeg_file *_Nonnull file, int eighths, int *_Nonnull width, int *_Nonnull height, cjpeg_failure *_Nonnull failure);

/// Decodes the next rows, at most `rows`: grey or RGB, without padding. Gives how many there were, 0 at the end, -1 if it
/// failed.
int cjpeg_read(
    cjpeg_file *_Nonnull file, uint8_t *_Nonnull pixels, int rows, cjpeg_failure *_Nonnull failure);

/// Ends the decoding.
void cjpeg_close(cjpeg_file *_Nonnull file);

#endif
