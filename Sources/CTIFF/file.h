/// A TIFF file, and how its pixels are read.
#ifndef FILE_H
#define FILE_H

#include "library.h"

enum {
    /// The most samples a pixel. Scientific files have hundreds, which don't make a picture.
    MOST_SAMPLES = 8,
};

/// Bytes in memory that libtiff reads through one handle.
typedef struct {
    struct ctiff_file *file;
    uint64_t position;
} byte_source;

/// How pixels are read from libtiff.
typedef enum {
    /// A row at a time. Each plane has its own handle, as a shared one would decode a strip again for each row.
    BY_ROWS,
    /// A short strip of each plane at a time, since libtiff takes longer to start a row than to decode one of a few
    /// bytes.
    BY_STRIPS,
    /// A row of tiles at a time.
    BY_TILES,
    /// A strip or a row of tiles at a time, converted to RGB by libtiff.
    BY_RASTER,
} reading;

/// What the samples mean.
typedef enum { GREY, COLOUR, PALETTE, INK, CIELAB, ICCLAB } meaning;

struct ctiff_file {
    const uint8_t *bytes;
    uint64_t count;
    bool allow_damage;
    /// With `allow_damage`, this many zeros follow the end of the file, to complete a strip.
    uint64_t padding;
    ctiff_cancellation cancellation;
    ctiff_failure failure;
    /// Whether libjpeg warned of lost pixels, which isn't an error for libtiff.
    bool has_lost_pixels;

    /// One handle, or one for each plane.
    TIFF *planes[MOST_SAMPLES];
    byte_source sources[MOST_SAMPLES];
    int plane_count;

    ctiff_header header;
    reading reading;
    meaning meaning;
    /// Samples a pixel in each plane, and in total.
    int plane_samples, samples;
    int bits, format;
    bool min_is_white;
    /// The index of the alpha sample, or -1, and whether the colours are premultiplied by it.
    int alpha;
    bool is_associated;
    /// The range of signed and floating-point values.
    double low, high;
    /// Whether the samples are linear light.
    bool is_linear;
    const uint16_t *red, *green, *blue;

    /// The next row, and the wanted columns.
    uint32_t row, left, right;
    bool has_begun;
    /// The last strip of each plane whose first row couldn't be read, with `allow_damage`; else -1.
    int64_t missing[MOST_SAMPLES];
    /// The rows last read from libtiff, plane by plane, the first of them and how many, and the bytes of a row and of a
    /// plane.
    uint8_t *band;
    uint32_t band_top, band_rows;
    size_t row_bytes, band_bytes;
    /// Bytes of rows read since the last check for cancellation.
    size_t unchecked_bytes;
    uint8_t *tile;
    uint32_t *raster;
    /// A row's samples in 16 bits.
    uint16_t *wide;
};

/// Stores why the file can't be read, and returns false.
bool refuse(ctiff_file *file, bool is_unsupported, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Prepares to read rows. Returns false if memory can't be allocated or the tiles are invalid.
bool begin_rows(ctiff_file *file);

/// Returns a row of a plane; NULL if it can't be read.
const uint8_t *plane_row(ctiff_file *file, uint32_t row, int plane);

/// Returns a row converted to RGB by libtiff; NULL if it can't be read.
const uint32_t *raster_row(ctiff_file *file, uint32_t row);

/// Widens `count` samples to 16 bits, and writes them `step` apart.
void widen(const ctiff_file *file, const uint8_t *in, size_t count, uint16_t *out, size_t step);

/// Extends the range from `low` to `high` by `count` samples.
void measure(const ctiff_file *file, const uint8_t *in, size_t count, double *low, double *high);

/// Converts a row's samples to pixels.
void put_pixels(const ctiff_file *file, const uint16_t *wide, uint8_t *out);

/// Converts a row of samples to 16 bits a channel; for a file whose header `is_deep`.
void put_deep_pixels(const ctiff_file *file, const uint16_t *wide, uint16_t *out);

#endif
