/// Evaluates a libvips image strip by strip, on this thread, so that it can stop between two strips.
#ifndef ROWS_H
#define ROWS_H

#include "library.h"

/// What is read at a time.
enum { STRIP_ROWS = 32 };

/// Prepares a part of the picture; see `prepare_rows`.
bool prepare_area(
    VipsRegion *region, VipsRect area, const char *about, cvips_cancellation cancellation, cvips_failure *failure);

/// Prepares the rows `top` to `top + count` in full width. `about` is the word to know its errors by, if there is one.
bool prepare_rows(
    VipsRegion *region, int top, int count, const char *about, cvips_cancellation cancellation,
    cvips_failure *failure);

/// A row that was prepared, of 8-bit channels. libvips' macro for this calls a function of libvips that nothing links to.
static inline const uint8_t *row_at(const VipsRegion *region, int y) {
    return region->data + (ptrdiff_t)(y - region->valid.top) * region->bpl
        - (ptrdiff_t)region->valid.left * region->im->Bands;
}

/// Writes all rows, keeping the first `channels` of each pixel.
bool write_rows(
    VipsImage *image, int channels, uint8_t *pixels, cvips_cancellation cancellation, cvips_failure *failure);

#endif
