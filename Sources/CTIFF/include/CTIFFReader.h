/// Reads the first picture of a TIFF row by row with libtiff.
///
/// libtiff is loaded by the first call that needs it. Its errors and warnings are reported to the file concerned, never
/// to a process-wide handler.
#ifndef CTIFF_READER_H
#define CTIFF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called for each row, strip and tile; true stops decoding.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} ctiff_cancellation;

/// Why a call failed, on one line.
typedef struct {
    char message[240];
    /// Whether the file is of a kind that isn't read, rather than damaged.
    bool is_unsupported;
} ctiff_failure;

/// Whether libtiff is available. If not, `failure` says why and what to install.
bool ctiff_is_available(ctiff_failure *_Nonnull failure);

/// The header of the first picture.
typedef struct {
    uint32_t width, height;
    /// The tag Orientation, 1 to 8.
    int orientation;
    /// Bits a sample.
    int bits;
    /// The channels of the rows: 1 for grey, 3 for RGB, 4 for RGBA or, if `is_ink`, CMYK.
    int channels;
    bool is_ink;
    /// Whether the file is greyscale, with or without transparency.
    bool is_grey;
    bool has_profile;
    /// Whether `ctiff_read_deep_rows` can be called: whole numbers of 9 to 32 bits, of grey or RGB.
    bool is_deep;
    /// The most memory that reading needs: for a strip, a row of tiles, or their codec.
    size_t memory;
} ctiff_header;

/// A file open for decoding. Only one thread may use it at a time.
typedef struct ctiff_file ctiff_file;

/// Reads a file's first directory without decoding or allocating pixels. The bytes have to stay valid until
/// `ctiff_close`. With `allow_damage`, unreadable pixels are black.
ctiff_file *_Nullable ctiff_open(
    const uint8_t *_Nonnull bytes, size_t count, bool allow_damage, ctiff_cancellation cancellation,
    ctiff_header *_Nonnull header, ctiff_failure *_Nonnull failure);

/// Prepares to decode the columns from `left` up to, not including, `right` of the rows from `top` on. Other columns
/// may be left undefined. Returns the first row to come: `top`, or an earlier one of the same strip or tile; -1 on
/// failure. Call it before decoding any row, or not at all to decode all pixels.
int64_t ctiff_begin(
    ctiff_file *_Nonnull file, uint32_t top, uint32_t left, uint32_t right, ctiff_failure *_Nonnull failure);

/// Decodes the next `count` rows, 8 bits a channel, alpha straight, without padding.
bool ctiff_read_rows(
    ctiff_file *_Nonnull file, uint32_t count, uint8_t *_Nonnull pixels, ctiff_failure *_Nonnull failure);

/// Reads the next rows with 16 bits a sample, in the order of the machine: `count × width × channels` samples.
bool ctiff_read_deep_rows(
    ctiff_file *_Nonnull file, uint32_t count, uint16_t *_Nonnull samples, ctiff_failure *_Nonnull failure);

/// The ICC profile of the rows' colours, or NULL. It stays valid until `ctiff_close`.
const uint8_t *_Nullable ctiff_profile(const ctiff_file *_Nonnull file, size_t *_Nonnull size);

/// Closes the file.
void ctiff_close(ctiff_file *_Nonnull file);

#endif
