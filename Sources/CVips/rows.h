/// Evaluates a libvips image strip by strip on the calling thread, so that it can stop between two strips.
#ifndef ROWS_H
#define ROWS_H

#include "library.h"

/// The rows that are read at a time.
enum { STRIP_ROWS = 32 };

/// Prepares a part of the picture; see `prepare_rows`.
bool prepare_area(
    VipsRegion *region, VipsRect area, const char *about, cvips_cancellation cancellation, cvips_failure *failure);

/// Prepares the rows `top` to `top + count` in full width. `about` is a word that marks its errors, or NULL.
bool prepare_rows(
    VipsRegion *region, int top, int count, const char *about, cvips_cancellation cancellation,
    cvips_failure *failure);

/// Returns a prepared row of 8-bit channels. libvips' macro for it calls a function of libvips, which isn't linked.
static inline const uint8_t *row_at(const VipsRegion *region, int y) {
    return region->data + (ptrdiff_t)(y - region->valid.top) * region->bpl
        - (ptrdiff_t)region->valid.left * region->im->Bands;
}

/// Writes all rows, keeping the first `channels` of each pixel.
bool write_rows(
    VipsImage *image, int channels, uint8_t *pixels, cvips_cancellation cancellation, cvips_failure *failure);

#endif
