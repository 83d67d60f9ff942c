// Conversions between pixels and samples.
#include "CResample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void cresample_widen(const uint8_t *in, int16_t *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = (int16_t)(in[i] << 6);
}

void cresample_widen_deep(const uint16_t *in, int16_t *out, size_t count, int depth) {
    unsigned most = (1u << depth) - 1;
    for (size_t i = 0; i < count; i++) out[i] = (int16_t)((in[i] & most) << (14 - depth));
}

void cresample_narrow_deep(const uint16_t *in, uint8_t *out, size_t count, int depth) {
    unsigned most = (1u << depth) - 1, half = 1u << (depth - 9);
    for (size_t i = 0; i < count; i++) {
        unsigned value = ((in[i] & most) + half) >> (depth - 8);
        out[i] = (uint8_t)(value > 255 ? 255 : value);
    }
}

void cresample_planes_to_rgb(
    const int16_t *const planes[3], size_t count, const float *matrix, const float *offsets, uint8_t *out) {
    for (size_t i = 0; i < count; i++, out += 3) {
        float level[3];
        for (int p = 0; p < 3; p++) level[p] = (float)planes[p][i] * (1.0f / 64) - offsets[p];
        for (int c = 0; c < 3; c++) {
            const float *row = matrix + 3 * c;
            float value = row[0] * level[0] + row[1] * level[1] + row[2] * level[2] + 0.5f;
            out[c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
}

void cresample_premultiply(const uint8_t *in, int16_t *out, size_t pixels) {
    size_t i = 0;
#if defined(__x86_64__)
    const __m128i zero = _mm_setzero_si128();
    const __m128i colours = _mm_set1_epi64x(0x0000ffffffffffff);
    const __m128i opaque = _mm_set1_epi64x(0x00ff000000000000);
    for (; i + 4 <= pixels; i += 4) {
        __m128i four = _mm_loadu_si128((const __m128i *)(in + 4 * i));
        __m128i halves[2] = {_mm_unpacklo_epi8(four, zero), _mm_unpackhi_epi8(four, zero)};
        for (int half = 0; half < 2; half++) {
            __m128i alpha = _mm_shufflehi_epi16(_mm_shufflelo_epi16(halves[half], 0xff), 0xff);
            __m128i factor = _mm_or_si128(_mm_and_si128(alpha, colours), opaque);
            __m128i product = _mm_add_epi16(_mm_mullo_epi16(halves[half], factor), _mm_set1_epi16(2));
            _mm_storeu_si128((__m128i *)(out + 4 * i + 8 * half), _mm_srli_epi16(product, 2));
        }
    }
#endif
    for (; i < pixels; i++) {
        const uint8_t *p = in + 4 * i;
        for (int c = 0; c < 3; c++) out[4 * i + (size_t)c] = (int16_t)((p[c] * p[3] + 2) >> 2);
        out[4 * i + 3] = (int16_t)((p[3] * 255 + 2) >> 2);
    }
}

void cresample_narrow(const int16_t *in, uint8_t *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int value = (in[i] + 32) >> 6;
        out[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

void cresample_unpremultiply(const int16_t *in, uint8_t *out, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, in += 4, out += 4) {
        // A level of alpha is 255 / 4; less than half of it rounds to transparent.
        int alpha = (in[3] * 4 + 127) / 255;
        if (in[3] < 32 || alpha <= 0) {
            out[0] = out[1] = out[2] = out[3] = 0;
            continue;
        }
        float factor = 255.0f / (float)in[3];
        for (int c = 0; c < 3; c++) {
            float value = (float)in[c] * factor + 0.5f;
            out[c] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
        out[3] = (uint8_t)(alpha > 255 ? 255 : alpha);
    }
}
