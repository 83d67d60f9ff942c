/// The inner loops that make a palette of a picture's colours and turn its pixels into indices. A call with some ten
/// thousand pixels takes a few milliseconds at most, so that work can stop between two calls.
///
/// Palettes are RGBA with straight alpha.
#ifndef CPALETTE_H
#define CPALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The format of pixels.
typedef struct {
    /// 1 for grey, 3 for RGB, 4 for RGBA with straight alpha.
    int channels;
    /// Pixels with at least this alpha count as opaque, others as transparent; 0 keeps alpha.
    int threshold;
} cpalette_format;

/// Counts how often each colour occurs. Transparent pixels don't count.
typedef struct cpalette_histogram cpalette_histogram;

/// Makes a histogram of up to `most` different colours, at least 2. If there are more, similar colours count as one.
/// Returns NULL if memory can't be allocated.
cpalette_histogram *_Nullable cpalette_histogram_new(size_t most);

/// Counts pixels.
/// - Parameter left_out: For each pixel, whether to skip it; NULL to count all.
void cpalette_histogram_add(
    cpalette_histogram *_Nonnull histogram, const uint8_t *_Nonnull pixels, const uint8_t *_Nullable left_out,
    size_t count, cpalette_format format);

/// The number of colours.
size_t cpalette_histogram_count(const cpalette_histogram *_Nonnull histogram);

/// How often its table was probed. Tests use it to measure the cost of hostile colours.
uint64_t cpalette_histogram_probes(const cpalette_histogram *_Nonnull histogram);

/// Whether a pixel is transparent.
bool cpalette_histogram_is_partly_clear(const cpalette_histogram *_Nonnull histogram);

/// Frees it.
void cpalette_histogram_free(cpalette_histogram *_Nullable histogram);

/// A palette in the making.
typedef struct cpalette_choice cpalette_choice;

/// Chooses up to `colours` colours, 1 to 256, by splitting the colour space where that reduces the error most. If the
/// histogram has no more colours, all are taken. Returns NULL if memory can't be allocated.
cpalette_choice *_Nullable cpalette_choose(const cpalette_histogram *_Nonnull histogram, int colours);

/// Moves each colour to the mean of those that it represents. Returns false if that makes next to no difference.
bool cpalette_improve(cpalette_choice *_Nonnull choice);

/// Writes up to 256 colours, the least opaque first, and returns their number.
int cpalette_take(const cpalette_choice *_Nonnull choice, uint8_t *_Nonnull palette);

/// Frees it.
void cpalette_choice_free(cpalette_choice *_Nullable choice);

/// Finds the nearest colours of a palette. It caches results, so only one thread may use it at a time.
typedef struct cpalette_search cpalette_search;

/// Prepares a search among up to 256 colours. Returns NULL if memory can't be allocated.
cpalette_search *_Nullable cpalette_search_new(const uint8_t *_Nonnull palette, int colours);

/// The root mean square distance of a histogram's colours from the nearest in the palette.
float cpalette_search_error(cpalette_search *_Nonnull search, const cpalette_histogram *_Nonnull histogram);

/// Frees it.
void cpalette_search_free(cpalette_search *_Nullable search);

/// The errors of a picture's pixels that are diffused to the following ones.
typedef struct cpalette_dither cpalette_dither;

/// Prepares to find indices for a picture. Returns NULL if memory can't be allocated.
/// - Parameters:
///   - strength: How much of a pixel's error is diffused to its neighbours, 0 to 1.
///   - error: The root mean square distance of the picture's colours from the palette's.
cpalette_dither *_Nullable cpalette_dither_new(size_t width, cpalette_format format, float strength, float error);

/// Finds the indices of the next row's pixels. Rows come from the top; every second one is processed from its end.
/// - Parameters:
///   - row: The row. `above` and `below` are its neighbours, or the row itself at the picture's edges.
///   - left_out: For each pixel of the row, whether it counts as transparent; NULL if none does.
///   - clear: The index of transparent pixels.
///   - indices: The row's indices, which are written.
void cpalette_dither_row(
    cpalette_dither *_Nonnull dither, cpalette_search *_Nonnull search, const uint8_t *_Nonnull above,
    const uint8_t *_Nonnull row, const uint8_t *_Nonnull below, const uint8_t *_Nullable left_out, int clear,
    uint8_t *_Nonnull indices);

/// Frees it.
void cpalette_dither_free(cpalette_dither *_Nullable dither);

#endif
