/// The inner loops of the resampler. Each is a pure function on rows that the caller owns; none allocates.
///
/// A row of samples has 16 bits a channel: grey and RGB are 64 times the 8-bit value, RGBA is premultiplied and a
/// quarter of colour times alpha. Both leave the kernel's overshoot room in 16 bits. Rows are padded to a whole number
/// of `cresample_lanes` samples, and what pads them may hold anything.
#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/// How many samples a row is padded to a multiple of.
enum { cresample_lanes = 32 };

/// How many fractional bits a kernel's weights have: 16384 is one.
enum { cresample_weight_bits = 14 };

/// Samples of 8-bit grey, RGB or inks.
void cresample_widen(const uint8_t *_Nonnull in, int16_t *_Nonnull out, size_t count);

/// Samples of values with more than 8 bits, of which `depth` count.
void cresample_widen_deep(const uint16_t *_Nonnull in, int16_t *_Nonnull out, size_t count, int depth);

/// The same values with 8 bits.
void cresample_narrow_deep(const uint16_t *_Nonnull in, uint8_t *_Nonnull out, size_t count, int depth);

/// 8-bit RGB of the samples of three planes: each channel is a row of the 3 × 3 matrix times the planes' levels, from which
/// the offsets have been taken.
void cresample_planes_to_rgb(
    const int16_t *_Nonnull const planes[_Nonnull 3], size_t count, const float *_Nonnull matrix,
    const float *_Nonnull offsets, uint8_t *_Nonnull out);

/// Premultiplied samples of 8-bit RGBA.
void cresample_premultiply(const uint8_t *_Nonnull in, int16_t *_Nonnull out, size_t pixels);

/// Adds a row of grey, RGB or inks to column sums; at most 257 rows fit.
void cresample_add(const uint8_t *_Nonnull in, uint16_t *_Nonnull sums, size_t count);

/// Adds a row of RGBA, premultiplied, to column sums; at most 66 051 rows fit.
void cresample_add_premultiplied(const uint8_t *_Nonnull in, uint32_t *_Nonnull sums, size_t pixels);

/// Turns the sums of `rows` rows of grey, RGB or inks into samples, each the mean of a block of `block` columns (fewer in the last one), and
/// sets the sums to zero. `block` and `rows` are at most 255.
void cresample_take_means(
    uint16_t *_Nonnull sums, int16_t *_Nonnull out, size_t width, int channels, int block, int rows);

/// The same of premultiplied RGBA.
void cresample_take_premultiplied_means(
    uint32_t *_Nonnull sums, int16_t *_Nonnull out, size_t width, int block, int rows);

/// A weighted sum of `taps` rows, an even number; `count` is a multiple of `cresample_lanes`.
void cresample_columns(
    const int16_t *_Nonnull const *_Nonnull rows, const int16_t *_Nonnull weights, size_t taps, int16_t *_Nonnull out,
    size_t count);

/// Puts each even pixel of a row of colours and its right neighbour together, channel by channel: 8 samples for both. With
/// three channels the fourth is zero. The row has to have a pixel behind its last one if `width` is odd.
void cresample_pair(const int16_t *_Nonnull in, int16_t *_Nonnull pairs, size_t width, int channels);

/// Weighted sums along a row of such pairs: pixel `i` of the result begins at the row's pixel `starts[i]`, an even one,
/// with the weights from `weights + i × taps`, a multiple of 4. There have to be pairs for `taps` pixels behind the last
/// start, and room for a sample behind the result, whose `width` pixels have `channels` samples again.
void cresample_paired_row(
    const int16_t *_Nonnull pairs, const int32_t *_Nonnull starts, const int16_t *_Nonnull weights, size_t taps,
    int channels, int16_t *_Nonnull out, size_t width);

/// Weighted sums along a grey row, whose starts and taps are multiples as above.
void cresample_grey_row(
    const int16_t *_Nonnull in, const int32_t *_Nonnull starts, const int16_t *_Nonnull weights, size_t taps,
    int16_t *_Nonnull out, size_t width);

/// From samples back to 8-bit grey, RGB or inks.
void cresample_narrow(const int16_t *_Nonnull in, uint8_t *_Nonnull out, size_t count);

/// From premultiplied samples back to 8-bit RGBA with straight alpha; what can't be seen becomes black.
void cresample_unpremultiply(const int16_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels);

/// Makes RGB of cyan, magenta, yellow and black: light is what all four let through.
void cresample_mix_inks(const uint8_t *_Nonnull inks, uint8_t *_Nonnull out, size_t pixels);

/// How many steps of linear light an encoding has: fine enough for the darkest level to be met.
enum { cresample_encoding_steps = 16384 };

/// Converts pixels of 3 or 4 channels in place: each channel's curve of 256 values makes linear light of it, the matrix
/// (row by row) other primaries', and the encoding levels again. Alpha stays.
void cresample_convert_colours(
    uint8_t *_Nonnull pixels, size_t count, int channels, const float *_Nonnull curves, const float *_Nonnull matrix,
    const uint8_t *_Nonnull encoding);

#endif
