#include <stdlib.h>
#include <string.h>

#include "CPNG.h"

static void undo_sub(uint8_t *row, size_t length, size_t pixel) {
    for (size_t i = pixel; i < length; i++) row[i] = (uint8_t)(row[i] + row[i - pixel]);
}

static void undo_up(uint8_t *restrict row, const uint8_t *restrict previous, size_t length) {
    for (size_t i = 0; i < length; i++) row[i] = (uint8_t)(row[i] + previous[i]);
}

static void undo_average(uint8_t *row, const uint8_t *previous, size_t length, size_t pixel) {
    size_t first = pixel < length ? pixel : length;
    for (size_t i = 0; i < first; i++) row[i] = (uint8_t)(row[i] + previous[i] / 2);
    for (size_t i = pixel; i < length; i++) row[i] = (uint8_t)(row[i] + (row[i - pixel] + previous[i]) / 2);
}

/// Returns which of left, above and above left is nearest to left + above - above left, without branches, which would
/// be mispredicted.
static inline uint8_t nearest(int left, int above, int corner) {
    int distance = abs(above - corner);
    int to_above = abs(left - corner);
    int to_corner = abs(left + above - 2 * corner);
    int chosen = to_above < distance ? above : left;
    distance = to_above < distance ? to_above : distance;
    return (uint8_t)(to_corner < distance ? corner : chosen);
}

static void undo_paeth(uint8_t *row, const uint8_t *previous, size_t length, size_t pixel) {
    size_t first = pixel < length ? pixel : length;
    for (size_t i = 0; i < first; i++) row[i] = (uint8_t)(row[i] + previous[i]);
    for (size_t i = pixel; i < length; i++)
        row[i] = (uint8_t)(row[i] + nearest(row[i - pixel], previous[i], previous[i - pixel]));
}

#if defined(__x86_64__)
#include <immintrin.h>

#define WITH_SSE4 __attribute__((target("sse4.1")))

/// Widens three or four bytes to four 16-bit numbers.
WITH_SSE4 static inline __m128i widened(const uint8_t *bytes, size_t pixel) {
    uint32_t four = 0;
    memcpy(&four, bytes, pixel);
    return _mm_cvtepu8_epi16(_mm_cvtsi32_si128((int)four));
}

WITH_SSE4 static inline void narrow(uint8_t *bytes, __m128i numbers, size_t pixel) {
    uint32_t four = (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(numbers, numbers));
    memcpy(bytes, &four, pixel);
}

/// All channels of a pixel at once. Each pixel depends on the previous one, so nothing shorter is possible.
#define UNDO_PAETH(pixel)                                                                                              \
    __m128i left = _mm_setzero_si128();                                                                                \
    __m128i corner = _mm_setzero_si128();                                                                              \
    for (size_t i = 0; i + pixel <= length; i += pixel) {                                                              \
        __m128i above = widened(previous + i, pixel);                                                                  \
        __m128i sideways = _mm_sub_epi16(above, corner);                                                               \
        __m128i upwards = _mm_sub_epi16(left, corner);                                                                 \
        __m128i to_left = _mm_abs_epi16(sideways);                                                                     \
        __m128i to_above = _mm_abs_epi16(upwards);                                                                     \
        __m128i to_corner = _mm_abs_epi16(_mm_add_epi16(sideways, upwards));                                           \
        __m128i side = _mm_blendv_epi8(left, above, _mm_cmpgt_epi16(to_left, to_above));                               \
        __m128i is_corner = _mm_cmpgt_epi16(_mm_min_epi16(to_left, to_above), to_corner);                              \
        /* No byte carries into its neighbour here. */                                                                 \
        left = _mm_add_epi8(widened(row + i, pixel), _mm_blendv_epi8(side, corner, is_corner));                        \
        corner = above;                                                                                                \
        narrow(row + i, left, pixel);                                                                                  \
    }

#define UNDO_AVERAGE(pixel)                                                                                            \
    __m128i left = _mm_setzero_si128();                                                                                \
    for (size_t i = 0; i + pixel <= length; i += pixel) {                                                              \
        __m128i mean = _mm_srli_epi16(_mm_add_epi16(left, widened(previous + i, pixel)), 1);                           \
        left = _mm_add_epi8(widened(row + i, pixel), mean);                                                            \
        narrow(row + i, left, pixel);                                                                                  \
    }

#define UNDO_SUB(pixel)                                                                                                \
    __m128i left = _mm_setzero_si128();                                                                                \
    for (size_t i = 0; i + pixel <= length; i += pixel) {                                                              \
        left = _mm_add_epi8(left, widened(row + i, pixel));                                                            \
        narrow(row + i, left, pixel);                                                                                  \
    }

WITH_SSE4 static bool undo_three(int filter, uint8_t *row, const uint8_t *previous, size_t length) {
    if (filter == 1) {
        UNDO_SUB(3)
    } else if (filter == 3) {
        UNDO_AVERAGE(3)
    } else {
        UNDO_PAETH(3)
    }
    return true;
}

WITH_SSE4 static bool undo_four(int filter, uint8_t *row, const uint8_t *previous, size_t length) {
    if (filter == 1) {
        UNDO_SUB(4)
    } else if (filter == 3) {
        UNDO_AVERAGE(4)
    } else {
        UNDO_PAETH(4)
    }
    return true;
}

static bool undo_pixels(int filter, uint8_t *row, const uint8_t *previous, size_t length, size_t pixel) {
    bool waits = filter == 1 || filter == 3 || filter == 4;
    if (!waits || (pixel != 3 && pixel != 4) || !__builtin_cpu_supports("sse4.1")) return false;
    return pixel == 3 ? undo_three(filter, row, previous, length) : undo_four(filter, row, previous, length);
}
#else
static bool undo_pixels(int filter, uint8_t *row, const uint8_t *previous, size_t length, size_t pixel) {
    (void)filter, (void)row, (void)previous, (void)length, (void)pixel;
    return false;
}
#endif

bool cpng_unfilter(int filter, uint8_t *row, const uint8_t *previous, size_t length, size_t pixel) {
    if (undo_pixels(filter, row, previous, length, pixel)) return true;
    switch (filter) {
    case 0: return true;
    case 1: undo_sub(row, length, pixel); return true;
    case 2: undo_up(row, previous, length); return true;
    case 3: undo_average(row, previous, length, pixel); return true;
    case 4: undo_paeth(row, previous, length, pixel); return true;
    default: return false;
    }
}
