/// The inner loops of GIF: LZW, drawing rows of indices, and comparing rows with those of the previous frame.
#ifndef CGIF_H
#define CGIF_H

#include <stddef.h>
#include <stdint.h>

/// The state of a frame's decompression.
typedef struct {
    /// The string of each code: that of another code, and a last byte.
    uint16_t prefix[4096];
    uint16_t length[4096];
    uint8_t suffix[4096];
    uint8_t first[4096];
    /// Bits that have been read but not used yet.
    uint32_t bits;
    int count;
    int minimum, size;
    int clear, next, previous;
} cgif_lzw;

/// Why decompression stopped.
typedef enum {
    /// All input is consumed.
    CGIF_NEEDS_INPUT,
    /// The requested number of bytes is reached.
    CGIF_IS_FULL,
    /// The data contains the end code.
    CGIF_ENDS,
    /// The data is invalid.
    CGIF_IS_DAMAGED,
} cgif_state;

/// The output needs this much space beyond `limit`, for the longest string.
enum { CGIF_SLACK = 4096 };

/// Starts a frame. `minimum` is from 0 to 11.
void cgif_start(cgif_lzw *_Nonnull lzw, int minimum);

/// Decompresses until there are `limit` bytes, or a few more.
/// - Parameters:
///   - taken: The number of input bytes consumed; it is increased.
///   - given: The number of bytes written; it is increased.
cgif_state cgif_decompress(
    cgif_lzw *_Nonnull lzw, const uint8_t *_Nonnull input, size_t count, size_t *_Nonnull taken,
    uint8_t *_Nonnull output, size_t *_Nonnull given, size_t limit);

/// Draws indices over existing pixels.
/// - Parameters:
///   - palette: 256 RGBA colours.
///   - transparent: The index that keeps the existing pixel; -1 for none.
///   - channels: The channels of the pixels, 3 or 4.
void cgif_draw(
    const uint8_t *_Nonnull indices, size_t count, const uint8_t *_Nonnull palette, int transparent,
    uint8_t *_Nonnull pixels, int channels);

/// The state of a frame's compression.
typedef struct {
    /// A hash table of the strings that have codes. A key is a string's code and the byte after it, plus 1 so that no
    /// key is 0. Its value is the code of both.
    uint32_t keys[16384];
    uint16_t codes[16384];
    /// Bits that haven't been written yet.
    uint32_t bits;
    int count;
    int minimum, size;
    int next;
    /// The code of the string that the next byte is appended to; -1 at the beginning.
    int prefix;
    /// A block that isn't full yet.
    uint8_t block[255];
    int length;
    /// Spreads the strings over the table.
    uint32_t factor;
    /// How many probed slots were taken by other strings.
    uint64_t probes;
} cgif_packer;

/// The most bytes that `cgif_pack` writes for this many indices, or `cgif_pack_end` for 0.
static inline size_t cgif_pack_limit(size_t count) { return 2 * count + 1024; }

/// Starts a frame whose indices are below 2 to the power of `minimum`, from 2 to 8.
void cgif_pack_start(cgif_packer *_Nonnull packer, int minimum);

/// Compresses indices to whole blocks. Returns the number of bytes written.
size_t cgif_pack(
    cgif_packer *_Nonnull packer, const uint8_t *_Nonnull indices, size_t count, uint8_t *_Nonnull output);

/// Ends the frame. Returns the number of bytes written.
size_t cgif_pack_end(cgif_packer *_Nonnull packer, uint8_t *_Nonnull output);

/// Finds the pixels of a row that can be left as they are shown: those that are opaque and the same as in the previous
/// frame.
/// - Parameters:
///   - threshold: The lowest alpha of an opaque pixel.
///   - shown: The shown pixels in RGBA, transparent where nothing is shown.
///   - same: Set to 1 for each such pixel, otherwise to 0.
void cgif_compare(
    const uint8_t *_Nonnull pixels, const uint8_t *_Nonnull before, size_t count, int channels, int threshold,
    const uint8_t *_Nonnull shown, uint8_t *_Nonnull same);

/// Columns of a row from `start` up to, not including, `end`.
typedef struct {
    size_t start, end;
} cgif_span;

/// Shows a row of indices. Long runs of indices that change nothing become `clear`.
/// - Parameters:
///   - palette: RGBA colours.
///   - clear: The index that keeps the shown pixel.
/// - Returns: The columns that changed.
cgif_span cgif_show(
    uint8_t *_Nonnull indices, size_t count, const uint8_t *_Nonnull palette, int clear, uint8_t *_Nonnull shown);

/// Returns the shown columns that are transparent in the next frame.
cgif_span cgif_uncovered(
    const uint8_t *_Nonnull next, size_t count, int channels, int threshold, const uint8_t *_Nonnull shown);

#endif
