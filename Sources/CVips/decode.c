#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "rows.h"
#include "source.h"

struct cvips_image {
    byte_source bytes;
    VipsSourceCustom *source;
    VipsImage *pixels;
    VipsRegion *region;
    /// The word that marks this loader's errors.
    const char *name;
    /// The embedded profile, if the pixels are still in its colours.
    uint8_t *profile;
    size_t profile_size;
};

/// Returns a word in all messages of a loader.
static const char *loader_name(cvips_loader loader) {
    switch (loader) {
    case CVIPS_PNG: return "png";
    }
    return NULL;
}

static int load_with(VipsSource *source, cvips_options options, VipsImage **image) {
    VipsAccess access = VIPS_ACCESS_SEQUENTIAL;
    VipsFailOn fail_on = options.allow_damage ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR;
    switch (options.loader) {
    case CVIPS_PNG: return vips.vips_pngload_source(source, image, "access", access, "fail_on", fail_on, NULL);
    }
    return -1;
}

static void read_header(VipsImage *file, cvips_header *header) {
    header->width = file->Xsize;
    header->height = file->Ysize;
    header->frames = vips.vips_image_get_n_pages(file);
    header->orientation = vips.vips_image_get_orientation(file);
    header->has_alpha = vips.vips_image_hasalpha(file);
    header->has_profile = has_profile(file);
    header->bits = file->BandFmt == VIPS_FORMAT_UCHAR ? 8 : file->BandFmt == VIPS_FORMAT_USHORT ? 16 : 32;
}

static bool keep_profile(cvips_image *image, VipsImage *file) {
    const void *data;
    size_t size;
    if (vips.vips_image_get_blob(file, VIPS_META_ICC_NAME, &data, &size) != 0) return false;
    image->profile = malloc(size);
    if (!image->profile) return false;
    memcpy(image->profile, data, size);
    image->profile_size = size;
    return true;
}

static bool prepare(cvips_image *image, cvips_options options, cvips_header *header, cvips_failure *failure) {
    VipsImage *file = NULL;
    if (load_with((VipsSource *)image->source, options, &file) != 0 || !file) {
        take_vips_error(failure, image->name, "the header can't be read");
        if (file) g_object_unref(file);
        return false;
    }
    read_header(file, header);
    enum { MOST_BANDS = 8 };
    if (file->Bands > MOST_BANDS) {
        // libvips allocates all of them as soon as it opens the pixels, and ends the process if memory runs out.
        snprintf(failure->message, sizeof failure->message, "%d samples a pixel are not supported", file->Bands);
        g_object_unref(file);
        return false;
    }
    bool profile_pending = false;
    bool converted = to_eight_bits(&file, &profile_pending);
    image->pixels = file;
    header->channels = file->Bands;
    if (converted && profile_pending) converted = keep_profile(image, file);
    if (!converted) take_vips_error(failure, NULL, "its colours can't be converted to sRGB");
    return converted;
}

cvips_image *cvips_open(
    const uint8_t *bytes, size_t count, cvips_options options, cvips_cancellation cancellation, cvips_header *header,
    cvips_failure *failure) {
    if (!load_vips(failure)) return NULL;
    cvips_image *image = calloc(1, sizeof *image);
    if (!image) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    image->bytes = (byte_source){.bytes = bytes, .count = count, .cancellation = cancellation};
    image->name = loader_name(options.loader);
    image->source = make_source(&image->bytes);
    if (prepare(image, options, header, failure)) return image;
    cvips_close(image);
    return NULL;
}

bool cvips_read_rows(cvips_image *image, int top, int count, uint8_t *pixels, cvips_failure *failure) {
    if (top < 0 || count < 1 || count > image->pixels->Ysize - top) {
        snprintf(failure->message, sizeof failure->message, "there are no such rows");
        return false;
    }
    if (!image->region) image->region = vips.vips_region_new(image->pixels);
    if (!image->region) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return false;
    }
    if (!prepare_rows(image->region, top, count, image->name, image->bytes.cancellation, failure)) return false;
    size_t length = (size_t)image->pixels->Xsize * (size_t)image->pixels->Bands;
    for (int row = 0; row < count; row++) memcpy(pixels + (size_t)row * length, row_at(image->region, top + row), length);
    return true;
}

const uint8_t *cvips_pending_profile(const cvips_image *image, size_t *size) {
    *size = image->profile_size;
    return image->profile;
}

void cvips_close(cvips_image *image) {
    if (image->region) g_object_unref(image->region);
    if (image->pixels) g_object_unref(image->pixels);
    if (image->source) g_object_unref(image->source);
    free(image->profile);
    free(image);
}
