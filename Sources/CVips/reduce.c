#include "reduce.h"

// A block has at most 255² pixels, and 255² · 255² is below 2³².

void add_row(uint32_t *sums, const uint8_t *row, int width, int channels, int reduction) {
    for (int x = 0; x < width; x += reduction, sums += channels) {
        int end = x + reduction < width ? x + reduction : width;
        const uint8_t *p = row + (size_t)x * (size_t)channels;
        switch (channels) {
        case 1:
            for (int i = x; i < end; i++, p++) sums[0] += p[0];
            break;
        case 3:
            for (int i = x; i < end; i++, p += 3) {
                sums[0] += p[0];
                sums[1] += p[1];
                sums[2] += p[2];
            }
            break;
        default:
            for (int i = x; i < end; i++, p += 4) {
                uint32_t alpha = p[3];
                sums[0] += p[0] * alpha;
                sums[1] += p[1] * alpha;
                sums[2] += p[2] * alpha;
                sums[3] += alpha;
            }
        }
    }
}

static uint8_t mean(uint32_t sum, uint32_t count) {
    return count == 0 ? 0 : (uint8_t)(((uint64_t)sum + count / 2) / count);
}

void write_means(uint32_t *sums, uint8_t *out, int width, int channels, int reduction, int rows) {
    for (int x = 0; x < width; x += reduction, sums += channels, out += channels) {
        uint32_t columns = (uint32_t)(x + reduction < width ? reduction : width - x);
        uint32_t count = columns * (uint32_t)rows;
        for (int c = 0; c < channels; c++) {
            uint32_t weight = channels == 4 && c < 3 ? sums[3] : count;
            out[c] = mean(sums[c], weight);
        }
        for (int c = 0; c < channels; c++) sums[c] = 0;
    }
}
