#include <stdlib.h>

#include "CPNG.h"

// Each byte depends on the picture's bytes only, not on earlier results, so the compiler vectorizes all these loops.

static void filter_sub(const uint8_t *restrict row, uint8_t *restrict out, size_t length, size_t pixel) {
    size_t first = pixel < length ? pixel : length;
    for (size_t i = 0; i < first; i++) out[i] = row[i];
    for (size_t i = pixel; i < length; i++) out[i] = (uint8_t)(row[i] - row[i - pixel]);
}

static void filter_up(const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict out, size_t length) {
    for (size_t i = 0; i < length; i++) out[i] = (uint8_t)(row[i] - above[i]);
}

static void filter_average(
    const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict out, size_t length, size_t pixel) {
    size_t first = pixel < length ? pixel : length;
    for (size_t i = 0; i < first; i++) out[i] = (uint8_t)(row[i] - above[i] / 2);
    for (size_t i = pixel; i < length; i++) out[i] = (uint8_t)(row[i] - (row[i - pixel] + above[i]) / 2);
}

static void filter_paeth(
    const uint8_t *restrict row, const uint8_t *restrict above, uint8_t *restrict out, size_t length, size_t pixel) {
    size_t first = pixel < length ? pixel : length;
    for (size_t i = 0; i < first; i++) out[i] = (uint8_t)(row[i] - above[i]);
    for (size_t i = pixel; i < length; i++) {
        int16_t left = row[i - pixel], top = above[i], corner = above[i - pixel];
        int16_t to_left = (int16_t)abs(top - corner);
        int16_t to_top = (int16_t)abs(left - corner);
        int16_t to_corner = (int16_t)abs(left + top - 2 * corner);
        int16_t nearest = to_top < to_left ? top : left;
        int16_t distance = to_top < to_left ? to_top : to_left;
        nearest = to_corner < distance ? corner : nearest;
        out[i] = (uint8_t)(row[i] - nearest);
    }
}

/// The summed distance of the bytes from zero. Rows near zero compress well.
static uint64_t weight(const uint8_t *row, size_t length) {
    uint64_t total = 0;
    for (size_t start = 0; start < length; start += 1 << 16) {
        uint32_t sum = 0;
        size_t end = length - start < 1 << 16 ? length : start + (1 << 16);
        for (size_t i = start; i < end; i++) sum += (uint32_t)abs((int8_t)row[i]);
        total += sum;
    }
    return total;
}

void cpng_filter(int filter, const uint8_t *row, const uint8_t *above, uint8_t *out, size_t length, size_t pixel) {
    switch (filter) {
    case 1: filter_sub(row, out, length, pixel); break;
    case 2: filter_up(row, above, out, length); break;
    case 3: filter_average(row, above, out, length, pixel); break;
    case 4: filter_paeth(row, above, out, length, pixel); break;
    default:
        for (size_t i = 0; i < length; i++) out[i] = row[i];
    }
}

int cpng_best_filter(const uint8_t *row, const uint8_t *above, uint8_t *out, size_t length, size_t pixel) {
    int best = 0;
    uint64_t least = weight(row, length);
    for (int filter = 1; filter <= 4; filter++) {
        cpng_filter(filter, row, above, out, length, pixel);
        uint64_t this = weight(out, length);
        if (this >= least) continue;
        least = this;
        best = filter;
    }
    return best;
}
