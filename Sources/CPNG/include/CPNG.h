/// The inner loops of a PNG decoder: rows on their way from what is inflated to pixels (ISO/IEC 15948).
#ifndef CPNG_H
#define CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Undoes a row's filter (clause 9), in place. `previous` is the row above, undone already, or zeros; `pixel` is how many
/// bytes a pixel has, 1 to 8. False if there is no such filter.
bool cpng_unfilter(
    int filter, uint8_t *_Nonnull row, const uint8_t *_Nonnull previous, size_t length, size_t pixel);

/// Makes a byte of each sample of `bits` bits: 1, 2 or 4 as they are, or stretched to 0 to 255 if `stretch`; of 16 the
/// high byte.
void cpng_unpack(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t samples, int bits, bool stretch);

/// Looks each byte up among 256 colours of four bytes, of which the first `channels`, 3 or 4, are written.
void cpng_look_up(
    const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels, const uint8_t *_Nonnull colours, int channels);

/// From grey and alpha to RGBA.
void cpng_spread_grey(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels);

#endif
