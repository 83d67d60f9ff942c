#include "rows.h"

#include <stdio.h>
#include <string.h>

bool prepare_area(
    VipsRegion *region, VipsRect area, const char *about, cvips_cancellation cancellation, cvips_failure *failure) {
    if (is_cancelled(cancellation)) {
        snprintf(failure->message, sizeof failure->message, "cancelled");
        return false;
    }
    if (vips.vips_region_prepare(region, &area) == 0) return true;
    take_vips_error(failure, about, "the pixels can't be read");
    return false;
}

bool prepare_rows(
    VipsRegion *region, int top, int count, const char *about, cvips_cancellation cancellation,
    cvips_failure *failure) {
    VipsRect rows = {.left = 0, .top = top, .width = region->im->Xsize, .height = count};
    return prepare_area(region, rows, about, cancellation, failure);
}

bool write_rows(
    VipsImage *image, int channels, uint8_t *pixels, cvips_cancellation cancellation, cvips_failure *failure) {
    if (image->Bands < channels) {
        snprintf(failure->message, sizeof failure->message, "%d channels where there are %d", image->Bands, channels);
        return false;
    }
    VipsRegion *region = vips.vips_region_new(image);
    if (!region) {
        take_vips_error(failure, NULL, "the pixels can't be read");
        return false;
    }
    size_t width = (size_t)image->Xsize;
    size_t bands = (size_t)image->Bands;
    bool done = true;
    for (int top = 0; done && top < image->Ysize; top += STRIP_ROWS) {
        int count = VIPS_MIN(STRIP_ROWS, image->Ysize - top);
        done = prepare_rows(region, top, count, NULL, cancellation, failure);
        for (int row = 0; done && row < count; row++) {
            const uint8_t *in = row_at(region, top + row);
            uint8_t *out = pixels + (size_t)(top + row) * width * (size_t)channels;
            if (bands == (size_t)channels) {
                memcpy(out, in, width * bands);
            } else {
                for (size_t x = 0; x < width; x++) memcpy(out + x * (size_t)channels, in + x * bands, (size_t)channels);
            }
        }
    }
    g_object_unref(region);
    return done;
}
