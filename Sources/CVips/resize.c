#include "rows.h"

static bool resize(VipsImage **image, int channels, int width, int height) {
    VipsImage *next = NULL;
    double horizontal = (double)width / (*image)->Xsize;
    double vertical = (double)height / (*image)->Ysize;
    if (channels < 4) return take(image, &next, vips.vips_resize(*image, &next, horizontal, "vscale", vertical, NULL));
    // Without premultiplication the colour of what can't be seen would bleed into the edges.
    return take(image, &next, vips.vips_premultiply(*image, &next, NULL))
        && take(image, &next, vips.vips_resize(*image, &next, horizontal, "vscale", vertical, NULL))
        && take(image, &next, vips.vips_unpremultiply(*image, &next, NULL))
        // A cast alone would cut the fractions off.
        && take(image, &next, vips.vips_round(*image, &next, VIPS_OPERATION_ROUND_RINT, NULL))
        && take(image, &next, vips.vips_cast(*image, &next, VIPS_FORMAT_UCHAR, NULL));
}

bool cvips_resize(
    const uint8_t *pixels, int width, int height, int channels, uint8_t *result, int result_width, int result_height,
    cvips_cancellation cancellation, cvips_failure *failure) {
    if (!load_vips(failure)) return false;
    size_t size = (size_t)width * (size_t)height * (size_t)channels;
    VipsImage *memory = vips.vips_image_new_from_memory(pixels, size, width, height, channels, VIPS_FORMAT_UCHAR);
    VipsImage *image = NULL;
    VipsInterpretation space = channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    bool done = memory && vips.vips_copy(memory, &image, "interpretation", space, NULL) == 0;
    if (memory) g_object_unref(memory);
    done = done && resize(&image, channels, result_width, result_height);
    done = done && image->Xsize == result_width && image->Ysize == result_height && image->Bands == channels;
    if (!done)
        take_vips_error(failure, NULL, "libvips gave another size than it was asked for");
    else
        done = write_rows(image, channels, result, cancellation, failure);
    if (image) g_object_unref(image);
    return done;
}
