#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/// Whether a row's bytes are its pixels already.
static bool is_plain(const ctiff_file *file) {
    return file->bits == 8 && file->plane_count == 1 && file->format != SAMPLEFORMAT_INT && !file->min_is_white
        && !file->is_associated && file->samples == file->header.channels
        && (file->meaning == GREY || file->meaning == COLOUR || file->meaning == INK)
        && (file->alpha < 0 || file->alpha == 3);
}

/// Reads a row's samples as 16 bits each.
static bool widen_row(ctiff_file *file) {
    size_t count = (size_t)file->header.width * (size_t)file->plane_samples;
    for (int plane = 0; plane < file->plane_count; plane++) {
        const uint8_t *bytes = plane_row(file, file->row, plane);
        if (!bytes) return false;
        widen(file, bytes, count, file->wide + plane, file->plane_count > 1 ? (size_t)file->samples : 1);
    }
    return true;
}

static bool put_row(ctiff_file *file, uint8_t *pixels) {
    size_t width = file->header.width;
    if (file->reading == BY_RASTER) {
        const uint32_t *colours = raster_row(file, file->row);
        if (!colours) return false;
        for (size_t x = 0; x < width; x++, pixels += 3) {
            pixels[0] = TIFFGetR(colours[x]);
            pixels[1] = TIFFGetG(colours[x]);
            pixels[2] = TIFFGetB(colours[x]);
        }
        return true;
    }
    if (is_plain(file)) {
        const uint8_t *bytes = plane_row(file, file->row, 0);
        if (bytes) memcpy(pixels, bytes, width * (size_t)file->samples);
        return bytes != NULL;
    }
    if (!widen_row(file)) return false;
    put_pixels(file, file->wide, pixels);
    return true;
}

/// Finds the range of signed or floating-point values. Signed ones begin at 0 unless one is negative. Floating-point
/// greys end at 1 unless one is above it. This reads the whole picture once.
static bool find_range(ctiff_file *file) {
    bool is_float = file->format == SAMPLEFORMAT_IEEEFP;
    file->low = 0;
    file->high = is_float ? 1 : ldexp(1, file->bits - 1) - 1;
    // Colours above 1 are brighter than white, and are clipped to it.
    if (is_float && file->meaning != GREY) return true;
    double low = 0, high = 0;
    for (uint32_t row = 0; row < file->header.height; row++) {
        for (int plane = 0; plane < file->plane_count; plane++) {
            const uint8_t *bytes = plane_row(file, row, plane);
            if (!bytes) return false;
            measure(file, bytes, (size_t)file->header.width * (size_t)file->plane_samples, &low, &high);
        }
    }
    if (!is_float && low < 0) file->low = -ldexp(1, file->bits - 1);
    if (is_float && high > 1) {
        file->high = high > 255 ? 65535 : 255;
        file->is_linear = false;
    }
    return true;
}

static bool begin(ctiff_file *file) {
    file->has_begun = true;
    // The range is measured over the whole picture.
    file->right = file->header.width;
    if (!begin_rows(file)) return false;
    bool is_lab = file->meaning == CIELAB || file->meaning == ICCLAB;
    bool is_measured = file->format == SAMPLEFORMAT_IEEEFP || file->format == SAMPLEFORMAT_INT;
    bool has_range = file->reading == BY_RASTER || file->meaning == PALETTE || is_lab || !is_measured;
    return has_range || find_range(file);
}

/// Returns the rows of a strip or tile, which have to be decoded in order.
static uint32_t rows_of_a_strip(ctiff_file *file) {
    uint32_t rows = 0;
    uint16_t compression = 0;
    tiff.TIFFGetFieldDefaulted(file->planes[0], TIFFTAG_COMPRESSION, &compression);
    if (compression == COMPRESSION_NONE && file->reading == BY_ROWS) return 1;
    uint32_t tag = tiff.TIFFIsTiled(file->planes[0]) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP;
    tiff.TIFFGetFieldDefaulted(file->planes[0], tag, &rows);
    return rows > 0 && rows < file->header.height ? rows : file->header.height;
}

int64_t ctiff_begin(ctiff_file *file, uint32_t top, uint32_t left, uint32_t right, ctiff_failure *failure) {
    if (!begin(file)) {
        *failure = file->failure;
        return -1;
    }
    file->left = left;
    file->right = right;
    file->row = top - top % rows_of_a_strip(file);
    return file->row;
}

bool ctiff_read_rows(ctiff_file *file, uint32_t count, uint8_t *pixels, ctiff_failure *failure) {
    bool is_read = file->has_begun || begin(file);
    if (is_read && count > file->header.height - file->row) is_read = refuse(file, false, "there are no such rows");
    size_t length = (size_t)file->header.width * (size_t)file->header.channels;
    for (uint32_t index = 0; is_read && index < count; index++, file->row++)
        is_read = put_row(file, pixels + index * length);
    if (!is_read) *failure = file->failure;
    return is_read;
}

bool ctiff_read_deep_rows(ctiff_file *file, uint32_t count, uint16_t *samples, ctiff_failure *failure) {
    bool is_read = file->has_begun || begin(file);
    if (is_read && (!file->header.is_deep || count > file->header.height - file->row))
        is_read = refuse(file, false, "there are no such rows");
    size_t length = (size_t)file->header.width * (size_t)file->header.channels;
    for (uint32_t index = 0; is_read && index < count; index++, file->row++) {
        is_read = widen_row(file);
        if (is_read) put_deep_pixels(file, file->wide, samples + index * length);
    }
    if (!is_read) *failure = file->failure;
    return is_read;
}
