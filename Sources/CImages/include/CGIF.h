/// The inner loops of GIF: its LZW, what becomes of a row of indices, and what of a row differs from the frame before.
#ifndef CGIF_H
#define CGIF_H

#include <stddef.h>
#include <stdint.h>

/// The state of a frame's decompression.
typedef struct {
    /// What each code stands for: the string of another code, and a last byte.
    uint16_t prefix[4096];
    uint16_t length[4096];
    uint8_t suffix[4096];
    uint8_t first[4096];
    /// Bits that were read and not yet used.
    uint32_t bits;
    int count;
    int minimum, size;
    int clear, next, previous;
} cgif_lzw;

/// Why decompression stopped.
typedef enum {
    /// All input is used up.
    CGIF_NEEDS_INPUT,
    /// There are as many bytes as were asked for.
    CGIF_IS_FULL,
    /// The data says that it ends here.
    CGIF_ENDS,
    /// The data makes no sense.
    CGIF_IS_DAMAGED,
} cgif_state;

/// More than the longest string: so much room is needed behind `limit`.
enum { CGIF_SLACK = 4096 };

/// Begins a frame. `minimum` is from 0 to 11.
void cgif_start(cgif_lzw *_Nonnull lzw, int minimum);

/// Decompresses until there are `limit` bytes, or a few more.
/// - Parameters:
///   - taken: how many bytes of the input are used; counts on.
///   - given: how many bytes are written; counts on.
cgif_state cgif_decompress(
    cgif_lzw *_Nonnull lzw, const uint8_t *_Nonnull input, size_t count, size_t *_Nonnull taken,
    uint8_t *_Nonnull output, size_t *_Nonnull given, size_t limit);

/// Draws pixels over what is there.
/// - Parameters:
///   - palette: 256 colours, RGBA.
///   - transparent: the index that leaves what is there; -1 for none.
///   - channels: 3 or 4.
void cgif_draw(
    const uint8_t *_Nonnull indices, size_t count, const uint8_t *_Nonnull palette, int transparent,
    uint8_t *_Nonnull pixels, int channels);

/// The state of a frame's compression.
typedef struct {
    /// A hash table of the strings that there are codes for: a string's own code and the byte behind it, and 1 so that
    /// nothing is 0; and the code of both.
    uint32_t keys[16384];
    uint16_t codes[16384];
    /// Bits that aren't written yet.
    uint32_t bits;
    int count;
    int minimum, size;
    int next;
    /// The string's code that the next byte is put behind; -1 at the beginning.
    int prefix;
    /// A block that isn't full yet.
    uint8_t block[255];
    int length;
    /// What spreads the strings over the table.
    uint32_t factor;
    /// How many slots were found taken by other strings.
    uint64_t probes;
} cgif_packer;

/// The most bytes that `cgif_pack` writes for a number of indices, and `cgif_pack_end` for none.
static inline size_t cgif_pack_limit(size_t count) { return 2 * count + 1024; }

/// Begins a frame whose indices are below 2 to the power of `minimum`, which is from 2 to 8.
void cgif_pack_start(cgif_packer *_Nonnull packer, int minimum);

/// Compresses indices; how many bytes it wrote, which are whole blocks.
size_t cgif_pack(
    cgif_packer *_Nonnull packer, const uint8_t *_Nonnull indices, size_t count, uint8_t *_Nonnull output);

/// Ends the frame with what is left; how many bytes it wrote.
size_t cgif_pack_end(cgif_packer *_Nonnull packer, uint8_t *_Nonnull output);

/// Which pixels of a row are to be left as they show: those that are opaque and the same as in the frame before.
/// - Parameters:
///   - threshold: from this alpha on a pixel is opaque.
///   - shown: RGBA, clear where nothing shows.
///   - same: 1 for each that is, otherwise 0.
void cgif_compare(
    const uint8_t *_Nonnull pixels, const uint8_t *_Nonnull before, size_t count, int channels, int threshold,
    const uint8_t *_Nonnull shown, uint8_t *_Nonnull same);

/// Columns of a row: from `start`, below `end`; none if that isn't larger.
typedef struct {
    size_t start, end;
} cgif_span;

/// Shows a row of indices. Long runs of those that change nothing become the clear one.
/// - Parameters:
///   - palette: RGBA.
///   - clear: the index that leaves what is there.
/// - Returns: where something changed.
cgif_span cgif_show(
    uint8_t *_Nonnull indices, size_t count, const uint8_t *_Nonnull palette, int clear, uint8_t *_Nonnull shown);

/// Where something shows that the next frame's row has to be clear of.
cgif_span cgif_uncovered(
    const uint8_t *_Nonnull next, size_t count, int channels, int threshold, const uint8_t *_Nonnull shown);

#endif
