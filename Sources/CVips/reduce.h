/// Means of square blocks of pixels, taken as the rows come in.
#ifndef REDUCE_H
#define REDUCE_H

#include <stddef.h>
#include <stdint.h>

/// Adds a row of pixels to the sums of the blocks that it crosses. `sums` has `channels` values a block; with 4
/// channels the colours are weighted by their alpha.
void add_row(uint32_t *sums, const uint8_t *row, int width, int channels, int reduction);

/// Writes the means of a row of blocks that are `rows` high, and sets the sums to zero.
void write_means(uint32_t *sums, uint8_t *out, int width, int channels, int reduction, int rows);

#endif
