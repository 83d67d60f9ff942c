/// What this package asks of libtiff: a TIFF's first picture, row by row.
///
/// libtiff is loaded when the first of these calls needs it. Its errors and warnings go to the file that they are about,
/// never to a handler of the whole process.
#ifndef CTIFF_READER_H
#define CTIFF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Asked for each row, strip and tile; true stops the decoding.
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

/// What the file says of its first picture.
typedef struct {
    uint32_t width, height;
    /// The tag Orientation, 1 to 8.
    int orientation;
    /// Bits a sample.
    int bits;
    /// The channels of the rows: 1 grey, 3 RGB, 4 RGBA or, if `is_ink`, cyan, magenta, yellow and black.
    int channels;
    bool is_ink;
    /// Whether the file stores brightness alone, with or without transparency.
    bool is_grey;
    bool has_profile;
    /// What reading holds in memory at most: a strip, a row of tiles, or what their codec needs.
    size_t memory;
} ctiff_header;

/// A file that is open for decoding. One thread at a time.
typedef struct ctiff_file ctiff_file;

/// Reads a file's first directory; no pixel is decoded and no room made for one. The bytes have to stay until
/// `ctiff_close`. With `allow_damage` what can't be read is black.
ctiff_file *_Nullable ctiff_open(
    const uint8_t *_Nonnull bytes, size_t count, bool allow_damage, ctiff_cancellation cancellation,
    ctiff_header *_Nonnull header, ctiff_failure *_Nonnull failure);

/// Prepares to decode the columns from `left` to before `right` of the rows from `top` on; where others are cheaper to leave
/// out, they are of no meaning then. Gives the row that comes first: `top`, or one before it in the same strip or tile; -1 if
/// it failed. To be called before any row is decoded, or not at all for all pixels.
int64_t ctiff_begin(
    ctiff_file *_Nonnull file, uint32_t top, uint32_t left, uint32_t right, ctiff_failure *_Nonnull failure);

/// Decodes the next `count` rows, 8 bits a channel, alpha straight, without padding.
bool ctiff_read_rows(
    ctiff_file *_Nonnull file, uint32_t count, uint8_t *_Nonnull pixels, ctiff_failure *_Nonnull failure);

/// The ICC profile whose colours the rows have, if there is one. It stays until `ctiff_close`.
const uint8_t *_Nullable ctiff_profile(const ctiff_file *_Nonnull file, size_t *_Nonnull size);

/// Ends the decoding.
void ctiff_close(ctiff_file *_Nonnull file);

#endif
