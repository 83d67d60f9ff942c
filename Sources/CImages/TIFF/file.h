/// A TIFF file, and how its pixels are read.
#ifndef FILE_H
#define FILE_H

#include "library.h"

enum {
    /// More samples a pixel than any picture has. Scientific files have hundreds, of which nobody can see a picture.
    MOST_SAMPLES = 8,
};

/// Bytes in memory, as libtiff reads them through one handle.
typedef struct {
    struct ctiff_file *file;
    uint64_t position;
} byte_source;

/// How the pixels come out of libtiff.
typedef enum {
    /// A row at a time, of each plane through a handle of its own: one would decode a strip again for each row.
    BY_ROWS,
    /// A short strip of each plane at a time: libtiff takes longer to begin a row than to decode one of a few bytes.
    BY_STRIPS,
    /// A row of tiles at a time.
    BY_TILES,
    /// A strip or a row of tiles at a time, as colours that libtiff has made.
    BY_RASTER,
} reading;

/// What the samples mean.
typedef enum { GREY, COLOUR, PALETTE, INK, CIELAB, ICCLAB } meaning;

struct ctiff_file {
    const uint8_t *bytes;
    uint64_t count;
    bool allow_damage;
    /// This many zeros follow the end of a truncated file that is decoded all the same: the rest of one strip.
    uint64_t padding;
    ctiff_cancellation cancellation;
    ctiff_failure failure;
    /// Whether libjpeg warned of pixels that are lost, which libtiff doesn't take for an error.
    bool has_lost_pixels;

    /// One handle, or one for each plane.
    TIFF *planes[MOST_SAMPLES];
    byte_source sources[MOST_SAMPLES];
    int plane_count;

    ctiff_header header;
    reading reading;
    meaning meaning;
    /// Samples a pixel in each plane, and in all.
    int plane_samples, samples;
    int bits, format;
    bool min_is_white;
    /// The sample that is alpha, or -1, and whether the colours are multiplied by it.
    int alpha;
    bool is_associated;
    /// The range of the values, if it isn't the type's.
    double low, high;
    /// Whether the samples are linear light.
    bool is_linear;
    const uint16_t *red, *green, *blue;

    /// The next row, and the columns that are wanted.
    uint32_t row, left, right;
    bool has_begun;
    /// The strip of each plane whose first row couldn't be read, if it is wanted all the same; else -1.
    int64_t missing[MOST_SAMPLES];
    /// The rows that libtiff gave at a time, plane by plane: the first of them, how many, and how long a row is.
    uint8_t *band;
    uint32_t band_top, band_rows;
    size_t row_bytes, band_bytes;
    /// Bytes of rows read since the last check for cancellation.
    size_t unchecked_bytes;
    uint8_t *tile;
    uint32_t *raster;
    /// A row's samples, 65535 for the brightest.
    uint16_t *wide;
};

/// Keeps why the file can't be read; false.
bool refuse(ctiff_file *file, bool is_unsupported, const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Prepares to read the rows from the first one. False if there is no memory.
bool begin_rows(ctiff_file *file);

/// Where a row of a plane's bytes is; NULL if it can't be read.
const uint8_t *plane_row(ctiff_file *file, uint32_t row, int plane);

/// A row that libtiff made colours of; NULL if it can't be read.
const uint32_t *raster_row(ctiff_file *file, uint32_t row);

/// Spreads `count` samples to 16 bits, each `step` behind the one before.
void widen(const ctiff_file *file, const uint8_t *in, size_t count, uint16_t *out, size_t step);

/// The smallest and the largest of `count` samples, added to what is known.
void measure(const ctiff_file *file, const uint8_t *in, size_t count, double *low, double *high);

/// Makes pixels of a row's samples.
void put_pixels(const ctiff_file *file, const uint16_t *wide, uint8_t *out);

#endif
