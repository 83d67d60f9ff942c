/// The inner loops of making a palette of a picture's colours, and indices of its pixels. Every call takes a few
/// milliseconds at most if it is given some ten thousand pixels, so that work can be stopped between two of them.
///
/// Palettes are RGBA, straight.
#ifndef CPALETTE_H
#define CPALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What pixels are.
typedef struct {
    /// 1 grey, 3 RGB, 4 RGBA, straight.
    int channels;
    /// Pixels with this alpha or more count as opaque, those with less as clear; 0 takes alpha as it is.
    int threshold;
} cpalette_format;

/// Which colours there are, and how often. What is clear isn't one.
typedef struct cpalette_histogram cpalette_histogram;

/// A histogram of up to that many different colours, at least 2; where there are more, similar colours count as one.
/// NULL if there is no memory.
cpalette_histogram *_Nullable cpalette_histogram_new(size_t most);

/// Counts pixels.
/// - Parameter left_out: for each pixel whether it isn't counted; NULL if all are.
void cpalette_histogram_add(
    cpalette_histogram *_Nonnull histogram, const uint8_t *_Nonnull pixels, const uint8_t *_Nullable left_out,
    size_t count, cpalette_format format);

/// How many colours there are.
size_t cpalette_histogram_count(const cpalette_histogram *_Nonnull histogram);

/// How often a place of its table was looked at: by tests, for what hostile colours cost.
uint64_t cpalette_histogram_probes(const cpalette_histogram *_Nonnull histogram);

/// Whether a pixel is clear.
bool cpalette_histogram_is_partly_clear(const cpalette_histogram *_Nonnull histogram);

/// Frees it.
void cpalette_histogram_free(cpalette_histogram *_Nullable histogram);

/// A palette that is being made.
typedef struct cpalette_choice cpalette_choice;

/// Chooses up to `colours` colours, 1 to 256, by splitting the space of colours where that makes the error least. A
/// histogram that has no more than these gives each of them. NULL if there is no memory.
cpalette_choice *_Nullable cpalette_choose(const cpalette_histogram *_Nonnull histogram, int colours);

/// Moves each colour to the mean of those that it stands for. False if that makes next to no difference any more.
bool cpalette_improve(cpalette_choice *_Nonnull choice);

/// Writes up to 256 colours, the least opaque first; how many there are.
int cpalette_take(const cpalette_choice *_Nonnull choice, uint8_t *_Nonnull palette);

/// Frees it.
void cpalette_choice_free(cpalette_choice *_Nullable choice);

/// Finds the nearest colours of a palette. One thread at a time: it notes what it found out.
typedef struct cpalette_search cpalette_search;

/// Prepares to look among up to 256 colours. NULL if there is no memory.
cpalette_search *_Nullable cpalette_search_new(const uint8_t *_Nonnull palette, int colours);

/// How far the colours of a histogram are from their nearest in the palette: the root of the mean square.
float cpalette_search_error(cpalette_search *_Nonnull search, const cpalette_histogram *_Nonnull histogram);

/// Frees it.
void cpalette_search_free(cpalette_search *_Nullable search);

/// What is left over of a picture's pixels for those that come after them.
typedef struct cpalette_dither cpalette_dither;

/// Prepares to find indices for a picture. NULL if there is no memory.
/// - Parameters:
///   - strength: how much of a pixel's error is made up for by its neighbours, 0 to 1.
///   - error: how far the picture's colours are from the palette's.
cpalette_dither *_Nullable cpalette_dither_new(size_t width, cpalette_format format, float strength, float error);

/// Finds the indices of the next row's pixels. Rows come from the top; every second one is taken from its end.
/// - Parameters:
///   - row: the row, and those above and below it, or the row itself at the picture's edges.
///   - left_out: for each pixel of the row whether it counts as clear; NULL if none does.
///   - clear: the index of what is clear.
///   - indices: the row's, which are written.
void cpalette_dither_row(
    cpalette_dither *_Nonnull dither, cpalette_search *_Nonnull search, const uint8_t *_Nonnull above,
    const uint8_t *_Nonnull row, const uint8_t *_Nonnull below, const uint8_t *_Nullable left_out, int clear,
    uint8_t *_Nonnull indices);

/// Frees it.
void cpalette_dither_free(cpalette_dither *_Nullable dither);

#endif
