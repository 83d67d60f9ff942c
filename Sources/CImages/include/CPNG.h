/// The inner loops of a PNG decoder and encoder: rows between what is deflated and pixels (ISO/IEC 15948).
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

/// Puts samples of 1, 2, 4 or 8 bits together, the first in the highest bits (clause 7.2).
void cpng_pack(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t samples, int bits);

/// Looks each byte up among 256 colours of four bytes, of which the first `channels`, 3 or 4, are written.
void cpng_look_up(
    const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels, const uint8_t *_Nonnull colours, int channels);

/// From grey and alpha to RGBA.
void cpng_spread_grey(const uint8_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels);

/// Filters a row (clause 9): `above` is the row above as it is, or zeros.
void cpng_filter(
    int filter, const uint8_t *_Nonnull row, const uint8_t *_Nonnull above, uint8_t *_Nonnull out, size_t length,
    size_t pixel);

/// The filter whose bytes come nearest to zero (clause 12.8); `out` has room for a row.
int cpng_best_filter(
    const uint8_t *_Nonnull row, const uint8_t *_Nonnull above, uint8_t *_Nonnull out, size_t length, size_t pixel);

#endif
