/// The inner loops of a PNG decoder and encoder, which convert between inflated rows and pixels (ISO/IEC 15948).
#ifndef CPNG_H
#define CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Undoes a row's filter (clause 9) in place. `previous` is the unfiltered row above, or zeros; `pixel` is the number
/// of bytes a pixel, 1 to 8. Returns false for an unknown filter.
bool cpng_unfilter(
    int filter, uint8_t *_Nonnull row, const uint8_t *_Nonnull previous, size_t length, size_t pixel);

/// Unpacks samples of 1, 2 or 4 bits to bytes, scaled to 0 to 255 if `stretch`. Samples of 16 bits are reduced to the
/// high byte.
void cpng_unpack(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t samples, int bits, bool stretch);

/// Packs samples of 1, 2, 4 or 8 bits, the first in the highest bits (clause 7.2).
void cpng_pack(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t samples, int bits);

/// Looks up each byte among 256 colours of four bytes, and writes the first `channels`, 3 or 4.
void cpng_look_up(
    const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels, const uint8_t *_Nonnull colours, int channels);

/// Converts grey and alpha to RGBA.
void cpng_spread_grey(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels);

/// Filters a row (clause 9). `above` is the unfiltered row above, or zeros.
void cpng_filter(
    int filter, const uint8_t *_Nonnull row, const uint8_t *_Nonnull above, uint8_t *_Nonnull out, size_t length,
    size_t pixel);

/// Returns the filter whose bytes come nearest to zero (clause 12.8). `out` is scratch space for a row.
int cpng_best_filter(
    const uint8_t *_Nonnull row, const uint8_t *_Nonnull above, uint8_t *_Nonnull out, size_t length, size_t pixel);

#endif
