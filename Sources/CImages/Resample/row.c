// Weighted sums along a row.
#include "CResample.h"

enum { HALF = 1 << (cresample_weight_bits - 1) };

static inline int16_t clamped(int32_t value) {
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

void cresample_pair(const int16_t *in, int16_t *pairs, size_t width, int channels) {
    size_t step = (size_t)channels;
    for (size_t x = 0; x < width; x += 2, in += 2 * step, pairs += 8) {
        for (size_t c = 0; c < 3; c++) {
            pairs[2 * c] = in[c];
            pairs[2 * c + 1] = in[step + c];
        }
        pairs[6] = channels == 4 ? in[3] : 0;
        pairs[7] = channels == 4 ? in[7] : 0;
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void paired_row_avx2(
    const int16_t *pairs, const int32_t *starts, const int16_t *weights, size_t taps, size_t channels, int16_t *out,
    size_t width) {
    const __m256i spread = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    for (size_t i = 0; i < width; i++, weights += taps, out += channels) {
        const int16_t *p = pairs + 4 * (size_t)starts[i];
        __m256i sums = _mm256_setzero_si256();
        for (size_t k = 0; k < taps; k += 4, p += 16) {
            __m256i four = _mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)(weights + k)));
            __m256i weight = _mm256_permutevar8x32_epi32(four, spread);
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_loadu_si256((const __m256i *)p), weight));
        }
        __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
        sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(HALF)), cresample_weight_bits);
        _mm_storel_epi64((__m128i *)out, _mm_packs_epi32(sum, sum));
    }
}

static void paired_row_sse2(
    const int16_t *pairs, const int32_t *starts, const int16_t *weights, size_t taps, size_t channels, int16_t *out,
    size_t width) {
    for (size_t i = 0; i < width; i++, weights += taps, out += channels) {
        const int16_t *p = pairs + 4 * (size_t)starts[i];
        __m128i sum = _mm_set1_epi32(HALF);
        for (size_t k = 0; k < taps; k += 2, p += 8) {
            int32_t two;
            __builtin_memcpy(&two, weights + k, sizeof two);
            sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi32(two)));
        }
        sum = _mm_srai_epi32(sum, cresample_weight_bits);
        _mm_storel_epi64((__m128i *)out, _mm_packs_epi32(sum, sum));
    }
}

void cresample_paired_row(
    const int16_t *pairs, const int32_t *starts, const int16_t *weights, size_t taps, int channels, int16_t *out,
    size_t width) {
    if (__builtin_cpu_supports("avx2"))
        paired_row_avx2(pairs, starts, weights, taps, (size_t)channels, out, width);
    else
        paired_row_sse2(pairs, starts, weights, taps, (size_t)channels, out, width);
}

#else

void cresample_paired_row(
    const int16_t *pairs, const int32_t *starts, const int16_t *weights, size_t taps, int channels, int16_t *out,
    size_t width) {
    for (size_t i = 0; i < width; i++, weights += taps, out += channels) {
        const int16_t *p = pairs + 4 * (size_t)starts[i];
        int32_t sums[4] = {HALF, HALF, HALF, HALF};
        for (size_t k = 0; k < taps; k += 2, p += 8)
            for (int c = 0; c < 4; c++) sums[c] += p[2 * c] * weights[k] + p[2 * c + 1] * weights[k + 1];
        for (int c = 0; c < channels; c++) out[c] = clamped(sums[c] >> cresample_weight_bits);
    }
}

#endif

void cresample_grey_row(
    const int16_t *in, const int32_t *starts, const int16_t *weights, size_t taps, int16_t *out, size_t width) {
    for (size_t i = 0; i < width; i++, weights += taps) {
        const int16_t *p = in + starts[i];
        int32_t sum = HALF;
        for (size_t k = 0; k < taps; k++) sum += p[k] * weights[k];
        out[i] = clamped(sum >> cresample_weight_bits);
    }
}
