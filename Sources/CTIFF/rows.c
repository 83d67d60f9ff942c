// Reading rows of samples from a file.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

static bool is_cancelled(ctiff_file *file) {
    if (!file->cancellation.is_cancelled(file->cancellation.context)) return false;
    refuse(file, false, "cancelled");
    return true;
}

/// The bytes read between two checks. A row of a few bytes takes less time than a check.
enum { BYTES_PER_CHECK = 16384 };

/// Checks for cancellation before `bytes` are read at a row, unless the last check was only a few bytes ago.
static bool is_cancelled_at(ctiff_file *file, uint32_t row, size_t bytes) {
    bool is_due = row == 0 || file->unchecked_bytes >= BYTES_PER_CHECK;
    file->unchecked_bytes = is_due ? bytes : file->unchecked_bytes + bytes;
    return is_due && is_cancelled(file);
}

static bool has_failed(ctiff_file *file, bool is_read) {
    if (is_read && !file->has_lost_pixels) return false;
    if (!file->failure.message[0]) refuse(file, false, "its pixels can't be read");
    return !file->allow_damage;
}

static size_t bytes_of(uint64_t count) { return count < SIZE_MAX / 4 ? (size_t)count : 0; }

static size_t packed(uint64_t pixels, int samples, int bits) {
    return (size_t)((pixels * (uint64_t)samples * (uint64_t)bits + 7) / 8);
}

/// Whether memory was allocated. If not, the file is refused.
static bool has_room(ctiff_file *file, const void *memory) {
    return memory || refuse(file, false, "out of memory");
}

static bool begin_scanlines(ctiff_file *file) {
    size_t length = packed(file->header.width, file->plane_samples, file->bits);
    file->row_bytes = length;
    for (int plane = 0; plane < file->plane_count; plane++) {
        size_t size = bytes_of(tiff.TIFFScanlineSize64(file->planes[plane]));
        if (size > file->row_bytes) file->row_bytes = size;
    }
    for (int plane = 0; plane < MOST_SAMPLES; plane++) file->missing[plane] = -1;
    file->band = calloc((size_t)file->plane_count, file->row_bytes);
    return has_room(file, file->band);
}

static bool begin_strips(ctiff_file *file) {
    uint32_t rows = 0;
    tiff.TIFFGetFieldDefaulted(file->planes[0], TIFFTAG_ROWSPERSTRIP, &rows);
    file->band_rows = rows < file->header.height ? rows : file->header.height;
    file->row_bytes = packed(file->header.width, file->plane_samples, file->bits);
    file->band_bytes = file->row_bytes * file->band_rows;
    file->band = calloc((size_t)file->plane_count, file->band_bytes);
    return has_room(file, file->band);
}

static bool begin_tiles(ctiff_file *file) {
    uint32_t rows = 0;
    tiff.TIFFGetField(file->planes[0], TIFFTAG_TILELENGTH, &rows);
    size_t size = bytes_of(tiff.TIFFTileSize64(file->planes[0]));
    file->band_rows = rows < file->header.height ? rows : file->header.height;
    if (rows == 0 || size == 0) return refuse(file, false, "its tiles make no sense");
    file->row_bytes = packed(file->header.width, file->plane_samples, file->bits);
    if (__builtin_mul_overflow(file->row_bytes, (size_t)file->band_rows, &file->band_bytes))
        return refuse(file, false, "out of memory");
    file->tile = malloc(size);
    file->band = calloc((size_t)file->plane_count, file->band_bytes);
    return has_room(file, file->tile) && has_room(file, file->band);
}

static bool begin_raster(ctiff_file *file) {
    TIFF *handle = file->planes[0];
    uint32_t rows = 0;
    tiff.TIFFGetFieldDefaulted(handle, tiff.TIFFIsTiled(handle) ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows);
    file->band_rows = rows > 0 && rows < file->header.height ? rows : file->header.height;
    file->raster = calloc((size_t)file->header.width * file->band_rows, sizeof *file->raster);
    return has_room(file, file->raster);
}

bool begin_rows(ctiff_file *file) {
    if (file->reading == BY_RASTER) return begin_raster(file);
    file->wide = malloc((size_t)file->header.width * (size_t)file->samples * sizeof *file->wide);
    if (!has_room(file, file->wide)) return false;
    if (file->reading == BY_STRIPS) return begin_strips(file);
    return file->reading == BY_TILES ? begin_tiles(file) : begin_scanlines(file);
}

// Reading a row of each plane.

static bool read_scanlines(ctiff_file *file, uint32_t row) {
    uint32_t rows = 0;
    tiff.TIFFGetFieldDefaulted(file->planes[0], TIFFTAG_ROWSPERSTRIP, &rows);
    uint32_t strip = rows > 0 ? row / rows : 0;
    for (int plane = 0; plane < file->plane_count; plane++) {
        uint8_t *bytes = file->band + (size_t)plane * file->row_bytes;
        memset(bytes, 0, file->row_bytes);
        if (file->missing[plane] == (int64_t)strip) continue;
        bool is_read = tiff.TIFFReadScanline(file->planes[plane], bytes, row, (uint16_t)plane) == 1;
        if (has_failed(file, is_read)) return false;
        // libtiff would try to read the whole strip again for each of its rows.
        if (!is_read && (rows == 0 || row % rows == 0)) file->missing[plane] = strip;
        // The part read before the failure isn't in this machine's byte order.
        if (!is_read && file->bits > 8) memset(bytes, 0, file->row_bytes);
    }
    return true;
}

// Reading a strip of each plane.

static bool read_strips(ctiff_file *file, uint32_t top) {
    if (is_cancelled_at(file, top, file->band_bytes)) return false;
    TIFF *handle = file->planes[0];
    uint32_t rows = file->header.height - top < file->band_rows ? file->header.height - top : file->band_rows;
    tmsize_t size = (tmsize_t)(rows * file->row_bytes);
    for (int plane = 0; plane < file->plane_count; plane++) {
        uint32_t strip = tiff.TIFFComputeStrip(handle, top, (uint16_t)plane);
        uint8_t *bytes = file->band + (size_t)plane * file->band_bytes;
        if (has_failed(file, tiff.TIFFReadEncodedStrip(handle, strip, bytes, size) == size)) return false;
    }
    return true;
}

// Reading a row of tiles of each plane.

/// Copies `count` pixels of a tile into a row.
static void copy_pixels(const ctiff_file *file, const uint8_t *in, uint8_t *row, uint32_t left, size_t count) {
    int bits = file->bits * file->plane_samples;
    size_t start = (size_t)left * (size_t)bits;
    // A tile's width is a multiple of 8, so its pixels start at a byte.
    memcpy(row + start / 8, in, packed(count, file->plane_samples, file->bits));
}

static bool read_tile(ctiff_file *file, uint32_t left, uint32_t top, uint32_t width, int plane) {
    if (is_cancelled(file)) return false;
    TIFF *handle = file->planes[0];
    size_t size = (size_t)tiff.TIFFTileSize64(handle);
    size_t length = (size_t)tiff.TIFFTileRowSize64(handle);
    memset(file->tile, 0, size);
    uint32_t number = tiff.TIFFComputeTile(handle, left, top, 0, (uint16_t)plane);
    bool is_read = tiff.TIFFReadEncodedTile(handle, number, file->tile, (tmsize_t)size) >= 0;
    if (has_failed(file, is_read)) return false;
    if (!is_read && file->bits > 8) memset(file->tile, 0, size);
    uint32_t columns = file->header.width - left < width ? file->header.width - left : width;
    uint32_t rows = file->header.height - top < file->band_rows ? file->header.height - top : file->band_rows;
    size_t used = packed(columns, file->plane_samples, file->bits);
    if (used > length || (size_t)rows * length > size) return refuse(file, false, "its tiles make no sense");
    for (uint32_t row = 0; row < rows; row++)
        copy_pixels(
            file, file->tile + row * length, file->band + (size_t)plane * file->band_bytes + row * file->row_bytes, left,
            columns);
    return true;
}

static bool read_tiles(ctiff_file *file, uint32_t top) {
    uint32_t width = 0;
    tiff.TIFFGetField(file->planes[0], TIFFTAG_TILEWIDTH, &width);
    if (width == 0 || width % 8 != 0) return refuse(file, false, "its tiles make no sense");
    for (int plane = 0; plane < file->plane_count; plane++)
        for (uint64_t left = file->left - file->left % width; left < file->right; left += width)
            if (!read_tile(file, (uint32_t)left, top, width, plane)) return false;
    return true;
}

const uint8_t *plane_row(ctiff_file *file, uint32_t row, int plane) {
    if (file->reading == BY_ROWS) {
        if (plane == 0 && (is_cancelled_at(file, row, file->row_bytes) || !read_scanlines(file, row))) return NULL;
        return file->band + (size_t)plane * file->row_bytes;
    }
    if (row % file->band_rows == 0 && plane == 0) {
        if (!(file->reading == BY_STRIPS ? read_strips(file, row) : read_tiles(file, row))) return NULL;
        file->band_top = row;
    }
    return file->band + (size_t)plane * file->band_bytes + (row - file->band_top) * file->row_bytes;
}

// Reading rows converted to RGB.

static bool read_raster(ctiff_file *file, uint32_t top) {
    if (is_cancelled(file)) return false;
    uint32_t rows = file->header.height - top < file->band_rows ? file->header.height - top : file->band_rows;
    char words[1024] = "";
    TIFFRGBAImage image;
    if (!tiff.TIFFRGBAImageBegin(&image, file->planes[0], !file->allow_damage, words))
        return refuse(file, true, "%.200s", words);
    // In stored orientation; the picture is turned after all reduction.
    image.orientation = image.req_orientation = ORIENTATION_TOPLEFT;
    image.row_offset = (int)top;
    memset(file->raster, 0, (size_t)file->header.width * file->band_rows * sizeof *file->raster);
    bool is_read = tiff.TIFFRGBAImageGet(&image, file->raster, file->header.width, rows);
    tiff.TIFFRGBAImageEnd(&image);
    return !has_failed(file, is_read);
}

const uint32_t *raster_row(ctiff_file *file, uint32_t row) {
    if (row % file->band_rows == 0) {
        if (!read_raster(file, row)) return NULL;
        file->band_top = row;
    }
    return file->raster + (size_t)(row - file->band_top) * file->header.width;
}
