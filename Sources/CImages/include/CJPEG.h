/// Decodes and encodes JPEG with libjpeg-turbo. Its errors, which are long jumps, never leave this target.
#ifndef CJPEG_H
#define CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Called at every row of blocks of every scan; true stops the work.
typedef struct {
    bool (*_Nonnull is_cancelled)(const void *_Nonnull context);
    const void *_Nonnull context;
} cjpeg_cancellation;

/// Why a call failed: libjpeg's message, on one line.
typedef struct {
    char message[240];
    /// Whether the file is of a kind that isn't read, rather than damaged.
    bool is_unsupported;
} cjpeg_failure;

/// The header of a file.
typedef struct {
    int width, height;
    /// 1 for grey, 3 for colour, 4 for ink (CMYK or YCCK).
    int channels;
    /// The memory that decoding needs besides the resulting rows: the whole picture's coefficients if the file has
    /// several scans.
    size_t memory;
    /// Whether a segment begins a manifest store of C2PA.
    bool has_provenance;
} cjpeg_header;

/// A file open for decoding. Only one thread may use it at a time.
typedef struct cjpeg_file cjpeg_file;

/// Reads a file's header. The bytes have to stay valid until `cjpeg_close`. Without `allow_damage`, damage is an error
/// as soon as it is met.
cjpeg_file *_Nullable cjpeg_open(
    const uint8_t *_Nonnull bytes, size_t count, bool allow_damage, cjpeg_cancellation cancellation,
    cjpeg_header *_Nonnull header, cjpeg_failure *_Nonnull failure);

/// The EXIF block, including the prefix "Exif", or NULL.
const uint8_t *_Nullable cjpeg_exif(const cjpeg_file *_Nonnull file, size_t *_Nonnull size);

/// The ICC profile, joined from its segments, or NULL. Free it with `free`.
uint8_t *_Nullable cjpeg_profile(cjpeg_file *_Nonnull file, size_t *_Nonnull size);

/// Starts decoding at `eighths`/8 of the size, 1 to 8, and sets the resulting size.
bool cjpeg_start(
    cjpeg_file *_Nonnull file, int eighths, int *_Nonnull width, int *_Nonnull height, cjpeg_failure *_Nonnull failure);

/// Limits decoding to `width` columns from `left` and the rows from `top` on, in pixels of the size that `cjpeg_start`
/// set. Sets all three to the region that is decoded, which is a few pixels larger, or everything if parts can't be
/// decoded alone.
bool cjpeg_narrow(
    cjpeg_file *_Nonnull file, int *_Nonnull left, int *_Nonnull top, int *_Nonnull width,
    cjpeg_failure *_Nonnull failure);

/// Decodes the next rows, up to `rows`, without padding: grey, RGB, or CMYK with 0 for no ink. Returns how many there
/// were, 0 at the end, or -1 on failure.
int cjpeg_read(
    cjpeg_file *_Nonnull file, uint8_t *_Nonnull pixels, int rows, cjpeg_failure *_Nonnull failure);

/// Closes the file.
void cjpeg_close(cjpeg_file *_Nonnull file);

/// A block of metadata, or none.
typedef struct {
    const uint8_t *_Nullable bytes;
    size_t count;
} cjpeg_block;

/// The picture to encode: rows from the top, without padding.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height;
    /// 1 for grey, 3 for RGB, 4 for RGBA, which is blended over white.
    int channels;
} cjpeg_picture;

/// How to encode it.
typedef struct {
    /// 1 to 100.
    int quality;
    /// Whether the file holds a coarse picture first.
    bool progressive;
    /// Whether the Huffman codes are optimized for the picture.
    bool optimized;
    /// How many columns and rows share a colour: 1 or 2 each.
    int horizontal, vertical;
    /// EXIF without the prefix "Exif", an XMP packet, an ICC profile. EXIF or XMP too long for a segment is omitted.
    cjpeg_block exif, xmp, profile;
} cjpeg_encoding;

/// Writes a file and returns its bytes, to be freed with `free`; NULL on failure. `is_cancelled` is called every 16
/// rows and at every row of blocks of every scan.
uint8_t *_Nullable cjpeg_encode(
    cjpeg_picture picture, cjpeg_encoding encoding, cjpeg_cancellation cancellation, size_t *_Nonnull count,
    cjpeg_failure *_Nonnull failure);

#endif
