/// The inner loops of GIF: its LZW, and what becomes of a row of indices.
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

#endif
