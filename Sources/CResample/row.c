// Weighted sums along a row.
#include "CResample.h"

enum { HALF = 1 << (cresample_weight_bits - 1) };

#if defined(__x86_64__)
#include <immintrin.h>

/// Two neighbours at a time: their channels are interleaved, so that one instruction multiplies and adds them.
#define COLOUR_ROW(channels, skip)                                                                                      \
    for (size_t i = 0; i < width; i++, weights += taps, out += channels) {                                             \
        const int16_t *p = in + (size_t)starts[i] * channels;                                                          \
        __m128i sum = _mm_set1_epi32(HALF);                                                                            \
        for (size_t k = 0; k < taps; k += 2, p += 2 * channels) {                                                      \
            __m128i both = _mm_loadu_si128((const __m128i *)p);                                                        \
            __m128i pair = _mm_set1_epi32((int)((uint16_t)weights[k] | (uint32_t)(uint16_t)weights[k + 1] << 16));     \
            sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_unpacklo_epi16(both, _mm_srli_si128(both, skip)), pair));      \
        }                                                                                                              \
        sum = _mm_srai_epi32(sum, cresample_weight_bits);                                                              \
        _mm_storel_epi64((__m128i *)out, _mm_packs_epi32(sum, sum));                                                   \
    }

void cresample_row(
    const int16_t *in, const int32_t *starts, const int16_t *weights, size_t taps, int channels, int16_t *out,
    size_t width) {
    if (channels == 3) {
        COLOUR_ROW(3, 6)
    } else if (channels == 4) {
        COLOUR_ROW(4, 8)
    } else {
        for (size_t i = 0; i < width; i++, weights += taps) {
            const int16_t *p = in + starts[i];
            __m128i sum = _mm_setzero_si128();
            for (size_t k = 0; k < taps; k += 8) {
                __m128i samples = _mm_loadu_si128((const __m128i *)(p + k));
                sum = _mm_add_epi32(sum, _mm_madd_epi16(samples, _mm_loadu_si128((const __m128i *)(weights + k))));
            }
            sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
            sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
            sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(HALF)), cresample_weight_bits);
            out[i] = (int16_t)_mm_cvtsi128_si32(_mm_packs_epi32(sum, sum));
        }
    }
}

#else

static inline int16_t rounded(int32_t sum) {
    int32_t value = (sum + HALF) >> cresample_weight_bits;
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

#define ROW(channels)                                                                                                   \
    for (size_t i = 0; i < width; i++, weights += taps, out += channels) {                                             \
        const int16_t *p = in + (size_t)starts[i] * channels;                                                          \
        int32_t sums[channels] = {0};                                                                                  \
        for (size_t k = 0; k < taps; k++, p += channels)                                                               \
            for (int c = 0; c < channels; c++) sums[c] += p[c] * weights[k];                                           \
        for (int c = 0; c < channels; c++) out[c] = rounded(sums[c]);                                                  \
    }

void cresample_row(
    const int16_t *in, const int32_t *starts, const int16_t *weights, size_t taps, int channels, int16_t *out,
    size_t width) {
    if (channels == 3) {
        ROW(3)
    } else if (channels == 4) {
        ROW(4)
    } else {
        ROW(1)
    }
}

#endif
