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
    int height = picture.height * picture.frames;
    size_t size = (size_t)picture.width * (size_t)height * (size_t)picture.channels;
    VipsImage *memory = vips.vips_image_new_from_memory(
        picture.pixels, size, picture.width, height, picture.channels, VIPS_FORMAT_UCHAR);
    if (!memory) return NULL;
    VipsImage *image = NULL;
    VipsInterpretation space = picture.channels == 1 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    int status = vips.vips_copy(memory, &image, "interpretation", space, NULL);
    g_object_unref(memory);
    if (status != 0) return NULL;
    if (picture.frames > 1 && picture.delays) {
        vips.vips_image_set_int(image, VIPS_META_PAGE_HEIGHT, picture.height);
        vips.vips_image_set_array_int(image, "delay", picture.delays, picture.frames);
        vips.vips_image_set_int(image, "loop", picture.loops);
    }
    return image;
}

static int save_with(
    VipsImage *image, cvips_saver saver, int quality, int effort, void **bytes, size_t *count) {
    switch (saver) {
    case CVIPS_SAVE_JPEG:
        return vips.vips_jpegsave_buffer(image, bytes, count, "Q", quality, "optimize_coding", TRUE, "strip", TRUE, NULL);
    case CVIPS_SAVE_PNG: return vips.vips_pngsave_buffer(image, bytes, count, "strip", TRUE, NULL);
    case CVIPS_SAVE_GIF: return vips.vips_gifsave_buffer(image, bytes, count, NULL);
    case CVIPS_SAVE_TIFF:
        return vips.vips_tiffsave_buffer(
            image, bytes, count, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE, "predictor",
            VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", TRUE, NULL);
    case CVIPS_SAVE_AVIF:
        return vips.vips_heifsave_buffer(
            image, bytes, count, "Q", quality, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "effort", effort,
            "strip", TRUE, NULL);
    }
    return -1;
}

static VipsImage *flatten(VipsImage *image) {
    double white[] = {255, 255, 255};
    VipsArrayDouble *background = vips.vips_array_double_new(white, 3);
    VipsImage *flat = NULL;
    vips.vips_flatten(image, &flat, "background", background, NULL);
    vips.vips_area_unref(VIPS_AREA(background));
    g_object_unref(image);
    return flat;
}

uint8_t *cvips_save(
    cvips_picture picture, cvips_saver saver, int quality, int effort, cvips_cancellation cancellation, size_t *count,
    cvips_failure *failure) {
    if (!load_vips(failure)) return NULL;
    VipsImage *image = wrap(picture);
    if (image && saver == CVIPS_SAVE_JPEG && picture.channels == 4) image = flatten(image);
    void *bytes = NULL;
    if (image) {
        watch watch = {.cancellation = cancellation, .image = image};
        // A kill that is set before the evaluation begins is forgotten; the signals come during it.
        vips.vips_image_set_progress(image, TRUE);
        g_signal_connect_data(image, "preeval", G_CALLBACK(stop_if_cancelled), &watch, NULL, 0);
        g_signal_connect_data(image, "eval", G_CALLBACK(stop_if_cancelled), &watch, NULL, 0);
        if (save_with(image, saver, quality, effort, &bytes, count) != 0) {
            g_free(bytes);
            bytes = NULL;
        }
        g_object_unref(image);
    }
    if (!bytes) take_vips_error(failure, NULL, "the file can't be written");
    return bytes;
}

void cvips_free(void *bytes) { g_free(bytes); }
