/// The inner loops of the resampler. They only work on rows that the caller owns, and don't allocate.
///
/// Samples have 16 bits. Those of grey and RGB are 64 times the 8-bit value; those of RGBA are premultiplied, a quarter
/// of colour times alpha. Both leave room in 16 bits for the kernel's overshoot. Rows are padded to a multiple of
/// `cresample_lanes` samples; the padding may hold anything.
#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include <stddef.h>
#include <stdint.h>

/// Rows are padded to a multiple of this many samples.
enum { cresample_lanes = 32 };

/// The fractional bits of a kernel's weights: 16384 stands for 1.
enum { cresample_weight_bits = 14 };

/// Converts 8-bit grey, RGB or CMYK to samples.
void cresample_widen(const uint8_t *_Nonnull in, int16_t *_Nonnull out, size_t count);

/// Converts values of `depth` bits, more than 8, to samples.
void cresample_widen_deep(const uint16_t *_Nonnull in, int16_t *_Nonnull out, size_t count, int depth);

/// Reduces values of `depth` bits to 8 bits.
void cresample_narrow_deep(const uint16_t *_Nonnull in, uint8_t *_Nonnull out, size_t count, int depth);

/// Converts the samples of three planes to 8-bit RGB. Each channel is a row of the 3×3 matrix times the planes' levels
/// less the offsets.
void cresample_planes_to_rgb(
    const int16_t *_Nonnull const planes[_Nonnull 3], size_t count, const float *_Nonnull matrix,
    const float *_Nonnull offsets, uint8_t *_Nonnull out);

/// Converts 8-bit RGBA to premultiplied samples.
void cresample_premultiply(const uint8_t *_Nonnull in, int16_t *_Nonnull out, size_t pixels);

/// Adds a row of grey, RGB or CMYK to column sums, which hold up to 257 rows.
void cresample_add(const uint8_t *_Nonnull in, uint16_t *_Nonnull sums, size_t count);

/// Premultiplies a row of RGBA and adds it to column sums, which hold up to 66,051 rows.
void cresample_add_premultiplied(const uint8_t *_Nonnull in, uint32_t *_Nonnull sums, size_t pixels);

/// Turns the sums of `rows` rows of grey, RGB or CMYK into samples, and sets the sums to zero. Each sample is the mean
/// of a block of `block` columns, fewer in the last one. `block` and `rows` are at most 255.
void cresample_take_means(
    uint16_t *_Nonnull sums, int16_t *_Nonnull out, size_t width, int channels, int block, int rows);

/// Does the same for premultiplied RGBA.
void cresample_take_premultiplied_means(
    uint32_t *_Nonnull sums, int16_t *_Nonnull out, size_t width, int block, int rows);

/// Calculates a weighted sum of `taps` rows, an even number. `count` is a multiple of `cresample_lanes`.
void cresample_columns(
    const int16_t *_Nonnull const *_Nonnull rows, const int16_t *_Nonnull weights, size_t taps, int16_t *_Nonnull out,
    size_t count);

/// Interleaves each even pixel of a row of colours with its right neighbour, channel by channel, to 8 samples. With
/// three channels, the fourth is zero. If `width` is odd, the row needs one more pixel of padding.
void cresample_pair(const int16_t *_Nonnull in, int16_t *_Nonnull pairs, size_t width, int channels);

/// Calculates weighted sums along a row of such pairs. Pixel `i` of the result takes `taps` pixels, a multiple of 4,
/// from the even pixel `starts[i]` on, with the weights from `weights + i × taps` on. The row needs pairs for `taps`
/// pixels after the last start. The result has `width` pixels of `channels` samples, and needs space for one more
/// sample.
void cresample_paired_row(
    const int16_t *_Nonnull pairs, const int32_t *_Nonnull starts, const int16_t *_Nonnull weights, size_t taps,
    int channels, int16_t *_Nonnull out, size_t width);

/// Calculates weighted sums along a grey row. Its starts and taps are multiples as above.
void cresample_grey_row(
    const int16_t *_Nonnull in, const int32_t *_Nonnull starts, const int16_t *_Nonnull weights, size_t taps,
    int16_t *_Nonnull out, size_t width);

/// Converts samples to 8-bit grey, RGB or CMYK.
void cresample_narrow(const int16_t *_Nonnull in, uint8_t *_Nonnull out, size_t count);

/// Converts premultiplied samples to 8-bit RGBA with straight alpha. Transparent pixels become black.
void cresample_unpremultiply(const int16_t *_Nonnull in, uint8_t *_Nonnull out, size_t pixels);

/// Converts CMYK to RGB by multiplying the light that each ink lets through.
void cresample_mix_inks(const uint8_t *_Nonnull inks, uint8_t *_Nonnull out, size_t pixels);

/// The steps of linear light in an encoding, fine enough for the darkest levels.
enum { cresample_encoding_steps = 16384 };

/// Converts pixels of 3 or 4 channels in place. Each channel's curve of 256 values yields linear light, the row-major
/// matrix converts it to other primaries, and the encoding yields levels again. Alpha is unchanged.
void cresample_convert_colours(
    uint8_t *_Nonnull pixels, size_t count, int channels, const float *_Nonnull curves, const float *_Nonnull matrix,
    const uint8_t *_Nonnull encoding);

#endif
