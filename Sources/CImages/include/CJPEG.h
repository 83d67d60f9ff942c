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
    /// Whether the file is of a kind that isn't read, rather than damaged.
    bool is_unsupported;
} cjpeg_failure;

/// What the header says.
typedef struct {
    int width, height;
    /// 1 grey, 3 colour, 4 ink (CMYK or YCCK).
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

/// Limits what is decoded to the columns from `left` on and the rows from `top` on, of the size that `cjpeg_start` gave, and
/// says where the rows that come next begin, and how wide they are: some pixels more, or all, where parts can't be decoded
/// alone.
bool cjpeg_narrow(
    cjpeg_file *_Nonnull file, int *_Nonnull left, int *_Nonnull top, int *_Nonnull width,
    cjpeg_failure *_Nonnull failure);

/// Decodes the next rows, at most `rows`: grey, RGB, or cyan, magenta, yellow and black, 0 for no ink, without padding. Gives how many there were, 0 at the end, -1 if it
/// failed.
int cjpeg_read(
    cjpeg_file *_Nonnull file, uint8_t *_Nonnull pixels, int rows, cjpeg_failure *_Nonnull failure);

/// Ends the decoding.
void cjpeg_close(cjpeg_file *_Nonnull file);

/// Bytes that are written as they are, or none.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} cjpeg_block;

/// What is encoded: rows from the top, without padding.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height;
    /// 1 grey, 3 RGB, 4 RGBA, which is laid on white.
    int channels;
} cjpeg_picture;

/// How it is encoded.
typedef struct {
    /// 1 to 100.
    int quality;
    /// Whether a coarse picture comes first.
    bool progressive;
    /// Whether the codes are made for this picture.
    bool optimized;
    /// How many columns and rows share a colour: 1 or 2 each.
    int horizontal, vertical;
    /// EXIF without the "Exif" before it, an XMP packet, an ICC profile. What is too long for a segment is left out.
    cjpeg_block exif, xmp, profile;
} cjpeg_encoding;

/// Writes a file. Free the bytes with `free`; NULL if it failed. `is_cancelled` is asked every 16 rows and every row of
/// blocks of every scan.
uint8_t *_Nullable cjpeg_encode(
    cjpeg_picture picture, cjpeg_encoding encoding, cjpeg_cancellation cancellation, size_t *_Nonnull count,
    cjpeg_failure *_Nonnull failure);

#endif
