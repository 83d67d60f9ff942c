#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct csvg_drawing {
    void *handle;
    double width, height;
};

/// The unit of relative lengths.
enum { PERCENT = 0 };

static bool failed(csvg_failure *failure, GError *error, const char *fallback) {
    snprintf(failure->message, sizeof failure->message, "%s", error ? error->message : fallback);
    for (char *c = failure->message; *c; c++)
        if (*c == '\n') *c = ' ';
    if (error) g_error_free(error);
    return false;
}

static atomic_bool fonts_are_spent;

bool csvg_fonts_are_spent(void) { return atomic_load(&fonts_are_spent); }

/// Finds the size as rsvg-convert does: that of `width` and `height`; where one is missing or relative, that which the
/// view box's proportions give; without either, that of all that is drawn.
static void measure(csvg_drawing *drawing) {
    double *width = &drawing->width, *height = &drawing->height;
    if (svg.rsvg_handle_get_intrinsic_size_in_pixels(drawing->handle, width, height)) return;
    int has_width, has_height, has_box;
    svg_length across, down;
    svg_rectangle box;
    svg.rsvg_handle_get_intrinsic_dimensions(
        drawing->handle, &has_width, &across, &has_height, &down, &has_box, &box);
    if (has_box && across.unit == PERCENT && down.unit == PERCENT) {
        *width = box.width;
        *height = box.height;
        return;
    }
    // Its whole numbers are 0 if they don't fit. The others are these before they are rounded.
    svg_dimensions dimensions = {0};
    svg.rsvg_handle_get_dimensions(drawing->handle, &dimensions);
    *width = dimensions.exact_width;
    *height = dimensions.exact_height;
}

csvg_drawing *csvg_open(const uint8_t *bytes, size_t count, double *width, double *height, csvg_failure *failure) {
    if (!load_svg(failure)) return NULL;
    csvg_drawing *drawing = calloc(1, sizeof *drawing);
    if (!drawing) {
        failed(failure, NULL, "out of memory");
        return NULL;
    }
    GError *error = NULL;
    drawing->handle = svg.rsvg_handle_new_from_data(bytes, count, &error);
    if (!drawing->handle) {
        failed(failure, error, "it can't be parsed");
        csvg_close(drawing);
        return NULL;
    }
    // As in CSS, an inch has 96 pixels.
    svg.rsvg_handle_set_dpi(drawing->handle, 96);
    measure(drawing);
    *width = drawing->width;
    *height = drawing->height;
    return drawing;
}

/// Turns cairo's pixels, little-endian ARGB with premultiplied alpha, into RGBA with straight alpha.
static void straighten(uint8_t *pixels, size_t count) {
    for (uint8_t *pixel = pixels; pixel < pixels + 4 * count; pixel += 4) {
        unsigned blue = pixel[0], green = pixel[1], red = pixel[2], alpha = pixel[3];
        if (alpha == 0) continue;
        pixel[0] = (uint8_t)((red * 255 + alpha / 2) / alpha);
        pixel[1] = (uint8_t)((green * 255 + alpha / 2) / alpha);
        pixel[2] = (uint8_t)((blue * 255 + alpha / 2) / alpha);
    }
}

bool csvg_draw(
    csvg_drawing *drawing, double scale_x, double scale_y, int width, int height, uint8_t *pixels,
    csvg_failure *failure) {
    // No side of cairo's surfaces may be longer, so a longer picture is drawn in parts.
    enum { LONGEST = 32000, ARGB32 = 0 };
    const svg_rectangle page = {.width = drawing->width, .height = drawing->height};
    bool done = true;
    for (int top = 0; done && top < height; top += LONGEST) {
        for (int left = 0; done && left < width; left += LONGEST) {
            uint8_t *start = pixels + ((size_t)top * (size_t)width + (size_t)left) * 4;
            int columns = width - left < LONGEST ? width - left : LONGEST;
            int rows = height - top < LONGEST ? height - top : LONGEST;
            void *surface = svg.cairo_image_surface_create_for_data(start, ARGB32, columns, rows, width * 4);
            void *cairo = svg.cairo_create(surface);
            GError *error = NULL;
            svg.cairo_translate(cairo, -left, -top);
            svg.cairo_scale(cairo, scale_x, scale_y);
            done = svg.rsvg_handle_render_document(drawing->handle, cairo, &page, &error)
                || failed(failure, error, "it can't be drawn");
            int status = svg.cairo_status(cairo);
            if (done && status != 0) done = failed(failure, NULL, svg.cairo_status_to_string(status));
            svg.cairo_destroy(cairo);
            svg.cairo_surface_finish(surface);
            svg.cairo_surface_destroy(surface);
        }
    }
    if (!done && strstr(failure->message, "FreetypeError")) atomic_store(&fonts_are_spent, true);
    if (done) straighten(pixels, (size_t)width * (size_t)height);
    return done;
}

void csvg_close(csvg_drawing *drawing) {
    if (drawing->handle) g_object_unref(drawing->handle);
    free(drawing);
}
