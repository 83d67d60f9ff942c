// Exact means of blocks of pixels: first the columns of a block are summed, row by row, then each block's columns.
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

void cresample_take_means(uint16_t *sums, int16_t *out, size_t width, int channels, int block, int rows) {
    for (size_t x = 0; x < width; x += (size_t)block) {
        size_t columns = width - x < (size_t)block ? width - x : (size_t)block;
        float scale = 64.0f / (float)(columns * (size_t)rows);
        for (int c = 0; c < channels; c++) {
            uint32_t sum = 0;
            for (size_t i = 0; i < columns; i++) {
                uint16_t *column = sums + (x + i) * (size_t)channels + c;
                sum += *column;
                *column = 0;
            }
            *out++ = (int16_t)((float)sum * scale + 0.5f);
        }
    }
}

void cresample_take_premultiplied_means(uint32_t *sums, int16_t *out, size_t width, int block, int rows) {
    for (size_t x = 0; x < width; x += (size_t)block) {
        size_t columns = width - x < (size_t)block ? width - x : (size_t)block;
        float scale = 0.25f / (float)(columns * (size_t)rows);
        for (size_t c = 0; c < 4; c++) {
            // 255 columns of 255 rows of 255² are below 2³².
            uint32_t sum = 0;
            for (size_t i = 0; i < columns; i++) {
                sum += sums[(x + i) * 4 + c];
                sums[(x + i) * 4 + c] = 0;
            }
            *out++ = (int16_t)((float)sum * scale + 0.5f);
        }
    }
}
