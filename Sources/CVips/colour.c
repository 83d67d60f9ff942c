#include "colour.h"

#include "rows.h"

bool has_profile(VipsImage *image) { return vips.vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0; }

/// Whether the image has a profile that can be handed to LittleCMS.
static bool has_usable_profile(VipsImage *image) {
    const void *data;
    size_t size;
    return has_profile(image) && vips.vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &size) == 0
        && cvips_is_bounded_profile(data, size);
}

/// Converts with the perceptual intent, which suits photographs and is the only one that every profile with tables has.
static int transform_to_srgb(VipsImage *image, VipsImage **converted) {
    return vips.vips_icc_transform(
        image, converted, "srgb", "embedded", TRUE, "depth", 8, "intent", VIPS_INTENT_PERCEPTUAL, NULL);
}

/// Whether the colours can be converted after all reduction, at a thumbnail's cost.
static bool is_plain(VipsImage *image) {
    if (image->BandFmt != VIPS_FORMAT_UCHAR && image->BandFmt != VIPS_FORMAT_USHORT) return false;
    switch (vips.vips_image_guess_interpretation(image)) {
    case VIPS_INTERPRETATION_B_W:
    case VIPS_INTERPRETATION_GREY16: return image->Bands == 1;
    case VIPS_INTERPRETATION_sRGB:
    case VIPS_INTERPRETATION_RGB:
    case VIPS_INTERPRETATION_RGB16: return image->Bands == 3 || image->Bands == 4;
    default: return false;
    }
}

static bool to_srgb(VipsImage **image) {
    VipsImage *next = NULL;
    if (has_usable_profile(*image)) {
        if (take(image, &next, transform_to_srgb(*image, &next))) return true;
        // A damaged profile is ignored, as in browsers.
        vips.vips_error_clear();
    }
    return take(image, &next, vips.vips_colourspace(*image, &next, VIPS_INTERPRETATION_sRGB, NULL));
}

bool to_eight_bits(VipsImage **image, bool *profile_pending) {
    VipsImage *next = NULL;
    bool plain = is_plain(*image);
    *profile_pending = plain && has_profile(*image);
    if (!plain && !to_srgb(image)) return false;
    // 16 bits are reduced to the high byte; anything else holds values from 0 to 255 by now.
    bool high_byte = (*image)->BandFmt == VIPS_FORMAT_USHORT;
    if ((*image)->BandFmt != VIPS_FORMAT_UCHAR
        && !take(image, &next, vips.vips_cast(*image, &next, VIPS_FORMAT_UCHAR, "shift", high_byte, NULL)))
        return false;
    int bands = (*image)->Bands;
    if (bands == 1 || bands == 3 || bands == 4) return true;
    return take(image, &next, vips.vips_extract_band(*image, &next, 0, "n", bands > 4 ? 4 : 1, NULL));
}

bool cvips_convert_to_srgb(
    uint8_t *pixels, int width, int height, int channels, const uint8_t *profile, size_t profile_size,
    cvips_cancellation cancellation, cvips_failure *failure) {
    if (!cvips_is_bounded_profile(profile, profile_size)) return true;
    if (!load_vips(failure)) return false;
    size_t size = (size_t)width * (size_t)height * (size_t)channels;
    VipsImage *memory =
        vips.vips_image_new_from_memory(pixels, size, width, height, channels, VIPS_FORMAT_UCHAR);
    if (!memory) {
        take_vips_error(failure, NULL, "the pixels can't be converted");
        return false;
    }
    VipsImage *image = NULL;
    VipsImage *converted = NULL;
    VipsInterpretation space = channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    bool done = vips.vips_copy(memory, &image, "interpretation", space, NULL) == 0;
    g_object_unref(memory);
    if (!done) {
        take_vips_error(failure, NULL, "the pixels can't be converted");
        return false;
    }
    vips.vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile_size);
    bool usable = transform_to_srgb(image, &converted) == 0;
    g_object_unref(image);
    if (!usable) {
        // A damaged profile, or one for another colour space, counts as sRGB, as in browsers.
        vips.vips_error_clear();
        return true;
    }
    // Converting in place is safe, since each row's conversion reads only that row.
    done = write_rows(converted, channels, pixels, cancellation, failure);
    g_object_unref(converted);
    return done;
}

bool cvips_convert_inks(
    const uint8_t *inks, int width, int height, const uint8_t *profile, size_t profile_size, uint8_t *out,
    bool *is_usable, cvips_cancellation cancellation, cvips_failure *failure) {
    if (!load_vips(failure)) return false;
    size_t size = (size_t)width * (size_t)height * 4;
    VipsImage *memory = vips.vips_image_new_from_memory(inks, size, width, height, 4, VIPS_FORMAT_UCHAR);
    VipsImage *image = NULL;
    VipsImage *converted = NULL;
    bool done = memory
        && vips.vips_copy(memory, &image, "interpretation", VIPS_INTERPRETATION_CMYK, NULL) == 0;
    if (memory) g_object_unref(memory);
    if (!done) {
        take_vips_error(failure, NULL, "the pixels can't be converted");
        return false;
    }
    vips.vips_image_set_blob_copy(image, VIPS_META_ICC_NAME, profile, profile_size);
    *is_usable = cvips_is_bounded_profile(profile, profile_size) && transform_to_srgb(image, &converted) == 0
        && converted->Bands == 3;
    g_object_unref(image);
    if (*is_usable)
        done = write_rows(converted, 3, out, cancellation, failure);
    else
        vips.vips_error_clear();
    if (converted) g_object_unref(converted);
    return done;
}
