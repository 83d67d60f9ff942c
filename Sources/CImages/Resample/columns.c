// Weighted sums of rows, two rows at a time, because processors multiply and add 16-bit numbers in pairs.
#include "CResample.h"

enum { HALF = 1 << (cresample_weight_bits - 1) };

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static void columns_avx2(
    const int16_t *const *rows, const int16_t *weights, size_t taps, int16_t *out, size_t count) {
    for (size_t x = 0; x < count; x += 32) {
        __m256i sums[4];
        for (int i = 0; i < 4; i++) sums[i] = _mm256_set1_epi32(HALF);
        for (size_t k = 0; k < taps; k += 2) {
            __m256i pair = _mm256_set1_epi32((int)((uint16_t)weights[k] | (uint32_t)(uint16_t)weights[k + 1] << 16));
            for (size_t i = 0; i < 2; i++) {
                __m256i a = _mm256_loadu_si256((const __m256i *)(rows[k] + x + 16 * i));
                __m256i b = _mm256_loadu_si256((const __m256i *)(rows[k + 1] + x + 16 * i));
                sums[2 * i] = _mm256_add_epi32(sums[2 * i], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair));
                sums[2 * i + 1] =
                    _mm256_add_epi32(sums[2 * i + 1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair));
            }
        }
        for (size_t i = 0; i < 2; i++) {
            __m256i low = _mm256_srai_epi32(sums[2 * i], cresample_weight_bits);
            __m256i high = _mm256_srai_epi32(sums[2 * i + 1], cresample_weight_bits);
            _mm256_storeu_si256((__m256i *)(out + x + 16 * i), _mm256_packs_epi32(low, high));
        }
    }
}

static void columns_sse2(
    const int16_t *const *rows, const int16_t *weights, size_t taps, int16_t *out, size_t count) {
    for (size_t x = 0; x < count; x += 16) {
        __m128i sums[4];
        for (int i = 0; i < 4; i++) sums[i] = _mm_set1_epi32(HALF);
        for (size_t k = 0; k < taps; k += 2) {
            __m128i pair = _mm_set1_epi32((int)((uint16_t)weights[k] | (uint32_t)(uint16_t)weights[k + 1] << 16));
            for (size_t i = 0; i < 2; i++) {
                __m128i a = _mm_loadu_si128((const __m128i *)(rows[k] + x + 8 * i));
                __m128i b = _mm_loadu_si128((const __m128i *)(rows[k + 1] + x + 8 * i));
                sums[2 * i] = _mm_add_epi32(sums[2 * i], _mm_madd_epi16(_mm_unpacklo_epi16(a, b), pair));
                sums[2 * i + 1] = _mm_add_epi32(sums[2 * i + 1], _mm_madd_epi16(_mm_unpackhi_epi16(a, b), pair));
            }
        }
        for (size_t i = 0; i < 2; i++) {
            __m128i low = _mm_srai_epi32(sums[2 * i], cresample_weight_bits);
            __m128i high = _mm_srai_epi32(sums[2 * i + 1], cresample_weight_bits);
            _mm_storeu_si128((__m128i *)(out + x + 8 * i), _mm_packs_epi32(low, high));
        }
    }
}

void cresample_columns(
    const int16_t *const *rows, const int16_t *weights, size_t taps, int16_t *out, size_t count) {
    if (__builtin_cpu_supports("avx2"))
        columns_avx2(rows, weights, taps, out, count);
    else
        columns_sse2(rows, weights, taps, out, count);
}

#else

void cresample_columns(
    const int16_t *const *rows, const int16_t *weights, size_t taps, int16_t *out, size_t count) {
    for (size_t x = 0; x < count; x += 16) {
        int32_t sums[16];
        for (int i = 0; i < 16; i++) sums[i] = HALF;
        for (size_t k = 0; k < taps; k++) {
            const int16_t *row = rows[k] + x;
            int16_t weight = weights[k];
            for (int i = 0; i < 16; i++) sums[i] += row[i] * weight;
        }
        for (int i = 0; i < 16; i++) {
            int32_t value = sums[i] >> cresample_weight_bits;
            out[x + (size_t)i] = (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
        }
    }
}

#endif
