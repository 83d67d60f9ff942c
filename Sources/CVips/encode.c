#include <stdio.h>

#include "library.h"

typedef struct {
    cvips_cancellation cancellation;
    VipsImage *image;
} watch;

static void stop_if_cancelled(VipsImage *image, VipsProgress *progress, watch *watch) {
    (void)image, (void)progress;
    if (is_cancelled(watch->cancellation)) vips.vips_image_set_kill(watch->image, TRUE);
}

static VipsImage *wrap(cvips_picture picture) {
    size_t size = (size_t)picture.width * (size_t)picture.height * (size_t)picture.channels;
    VipsImage *memory = vips.vips_image_new_from_memory(
        picture.pixels, size, picture.width, picture.height, picture.channels, VIPS_FORMAT_UCHAR);
    if (!memory) return NULL;
    VipsImage *image = NULL;
    VipsInterpretation space = picture.channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    int status = vips.vips_copy(memory, &image, "interpretation", space, NULL);
    g_object_unref(memory);
    return status == 0 ? image : NULL;
}

// No metadata is attached: libvips would give EXIF to libexif, which parses it.
static int save(VipsImage *image, cvips_encoding encoding, void **bytes, size_t *count) {
    return vips.vips_heifsave_buffer(
        image, bytes, count, "Q", encoding.quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "effort",
        encoding.effort, "subsample_mode",
        encoding.full_chroma ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_ON, "strip", TRUE, NULL);
}

uint8_t *cvips_save_avif(
    cvips_picture picture, cvips_encoding encoding, cvips_cancellation cancellation, size_t *count,
    cvips_failure *failure) {
    if (!load_vips(failure)) return NULL;
    VipsImage *image = wrap(picture);
    void *bytes = NULL;
    if (image) {
        watch watch = {.cancellation = cancellation, .image = image};
        // A kill set before the evaluation is forgotten. These signals come during it.
        vips.vips_image_set_progress(image, TRUE);
        g_signal_connect_data(image, "preeval", G_CALLBACK(stop_if_cancelled), &watch, NULL, 0);
        g_signal_connect_data(image, "eval", G_CALLBACK(stop_if_cancelled), &watch, NULL, 0);
        if (save(image, encoding, &bytes, count) != 0) {
            g_free(bytes);
            bytes = NULL;
        }
        g_object_unref(image);
    }
    if (!bytes) take_vips_error(failure, NULL, "the file can't be written");
    return bytes;
}

void cvips_free(void *bytes) { g_free(bytes); }
