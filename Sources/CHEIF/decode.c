#include <stdio.h>
#include <stdlib.h>

#include "library.h"

struct cheif_picture {
    struct heif_image *image;
    const uint8_t *pixels;
    int stride;
    int width, height, bits;
};

static bool fails(struct heif_error error, cheif_failure *failure) {
    if (error.code == heif_error_Ok) return false;
    snprintf(failure->message, sizeof failure->message, "%s", error.message ? error.message : "unknown");
    failure->is_unsupported =
        error.code == heif_error_Unsupported_filetype || error.code == heif_error_Unsupported_feature;
    return true;
}

/// Decodes without turns: a file of a coded picture alone has none.
static struct heif_image *decode(const struct heif_image_handle *handle, bool is_deep, cheif_failure *failure) {
    struct heif_decoding_options *options = heif.heif_decoding_options_alloc();
    struct heif_image *image = NULL;
    if (options) {
        options->ignore_transformations = 1;
        options->convert_hdr_to_8bit = !is_deep;
    }
    enum heif_chroma chroma = is_deep ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RGB;
    struct heif_error error = heif.heif_decode_image(handle, &image, heif_colorspace_RGB, chroma, options);
    if (options) heif.heif_decoding_options_free(options);
    return fails(error, failure) ? NULL : image;
}

static struct heif_image *open(const uint8_t *bytes, size_t count, bool is_deep, cheif_failure *failure) {
    struct heif_context *context = heif.heif_context_alloc();
    if (!context) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    if (!fails(heif.heif_context_read_from_memory_without_copy(context, bytes, count, NULL), failure)
        && !fails(heif.heif_context_get_primary_image_handle(context, &handle), failure))
        image = decode(handle, is_deep, failure);
    if (handle) heif.heif_image_handle_release(handle);
    heif.heif_context_free(context);
    return image;
}

cheif_picture *cheif_decode(const uint8_t *bytes, size_t count, bool is_deep, cheif_failure *failure) {
    failure->is_unsupported = false;
    if (!load_heif(failure)) return NULL;
    struct heif_image *image = open(bytes, count, is_deep, failure);
    if (!image) return NULL;
    cheif_picture picture = {.image = image};
    picture.pixels = heif.heif_image_get_plane_readonly(image, heif_channel_interleaved, &picture.stride);
    picture.width = heif.heif_image_get_width(image, heif_channel_interleaved);
    picture.height = heif.heif_image_get_height(image, heif_channel_interleaved);
    picture.bits = heif.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    cheif_picture *result = picture.pixels && picture.bits >= 8 && picture.bits <= 16 ? malloc(sizeof *result) : NULL;
    if (!result) {
        snprintf(failure->message, sizeof failure->message, "it has no pixels");
        heif.heif_image_release(image);
        return NULL;
    }
    *result = picture;
    return result;
}

int cheif_width(const cheif_picture *picture) { return picture->width; }

int cheif_height(const cheif_picture *picture) { return picture->height; }

int cheif_bits(const cheif_picture *picture) { return picture->bits; }

const uint8_t *cheif_row(const cheif_picture *picture, int row) {
    return picture->pixels + (size_t)row * (size_t)picture->stride;
}

void cheif_free(cheif_picture *picture) {
    heif.heif_image_release(picture->image);
    free(picture);
}
