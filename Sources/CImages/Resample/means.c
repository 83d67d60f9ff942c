// Exact means of blocks of pixels: first the columns of a block are summed, row by row, then each block's columns.
#include <string.h>

#include "CResample.h"

void cresample_add(const uint8_t *in, uint16_t *sums, size_t count) {
    for (size_t i = 0; i < count; i++) sums[i] = (uint16_t)(sums[i] + in[i]);
}

void cresample_add_premultiplied(const uint8_t *in, uint32_t *sums, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, in += 4, sums += 4) {
        uint32_t alpha = in[3];
        sums[0] += in[0] * alpha;
        sums[1] += in[1] * alpha;
        sums[2] += in[2] * alpha;
        sums[3] += 255 * alpha;
    }
}

/// Sums a block channel by channel and writes its mean as samples. A macro, so that it is inlined for each number of
/// channels.
#define TAKE_MEANS(channels, unit)                                                                                     \
    for (size_t x = 0; x < width; x += (size_t)block) {                                                                \
        size_t columns = width - x < (size_t)block ? width - x : (size_t)block;                                        \
        float scale = unit / (float)(columns * (size_t)rows);                                                          \
        uint32_t block_sums[channels] = {0};                                                                           \
        for (size_t i = 0; i < columns; i++, column += channels)                                                       \
            for (int c = 0; c < channels; c++) block_sums[c] += column[c];                                             \
        for (int c = 0; c < channels; c++) *out++ = (int16_t)((float)block_sums[c] * scale + 0.5f);                    \
    }

void cresample_take_means(uint16_t *sums, int16_t *out, size_t width, int channels, int block, int rows) {
    const uint16_t *column = sums;
    if (channels == 3) {
        TAKE_MEANS(3, 64.0f)
    } else if (channels == 4) {
        TAKE_MEANS(4, 64.0f)
    } else {
        TAKE_MEANS(1, 64.0f)
    }
    memset(sums, 0, width * (size_t)channels * sizeof *sums);
}

void cresample_take_premultiplied_means(uint32_t *sums, int16_t *out, size_t width, int block, int rows) {
    // 255 columns of 255 rows of 255² are below 2³².
    const uint32_t *column = sums;
    TAKE_MEANS(4, 0.25f)
    memset(sums, 0, width * 4 * sizeof *sums);
}
