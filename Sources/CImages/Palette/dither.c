// Error diffusion by Floyd and Steinberg, weighted by smoothness. Without it, smooth areas would show steps; elsewhere
// it would show dots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

/// The difference of neighbours at which half as much is diffused, and the minimum everywhere.
static const float half_at = 2.5f, least_share = 0.2f;

/// The share of an error that is passed on. Less than 1, so that errors that no colour can correct don't add up.
static const float passed_on = 0.94f;

/// The largest error that is passed on, as a multiple of the picture's error, with a minimum.
static const float most_errors = 2.5f, most_anyway = 8;

/// Errors below this are ignored: dots would cost bytes for nothing visible.
static const float unseen = 1.25f;

struct cpalette_dither {
    size_t width;
    cpalette_format format;
    float strength, most;
    /// Whether the next row is processed from its end.
    bool is_backwards;
    /// The diffused errors of each pixel of this row and the next, with a spare pixel at both ends.
    point *rows[2];
};

cpalette_dither *cpalette_dither_new(size_t width, cpalette_format format, float strength, float error) {
    cpalette_dither *dither = calloc(1, sizeof *dither);
    if (!dither) return NULL;
    dither->width = width;
    dither->format = format;
    dither->strength = strength;
    dither->most = error * most_errors > most_anyway ? error * most_errors : most_anyway;
    for (int i = 0; i < 2; i++) {
        dither->rows[i] = calloc(strength > 0 ? width + 2 : 1, sizeof(point));
        if (!dither->rows[i]) {
            cpalette_dither_free(dither);
            return NULL;
        }
    }
    return dither;
}

void cpalette_dither_free(cpalette_dither *dither) {
    if (!dither) return;
    free(dither->rows[0]);
    free(dither->rows[1]);
    free(dither);
}

/// The share of the error that a pixel with these neighbours takes.
static float share(point place, point left, point right, point above, point below) {
    float difference =
        (squared(left - place) + squared(right - place) + squared(above - place) + squared(below - place)) / 4;
    return least_share + (1 - least_share) / (1 + difference / (half_at * half_at));
}

/// The part of a pixel's error that is passed on.
static point passed(point error, float most) {
    float square = squared(error);
    return error * (square > most * most ? passed_on * most / sqrtf(square) : passed_on);
}

static void dither_row(
    cpalette_dither *dither, cpalette_search *search, const uint8_t *above, const uint8_t *row, const uint8_t *below,
    const uint8_t *left_out, int clear, uint8_t *indices) {
    cpalette_format format = dither->format;
    ptrdiff_t size = format.channels, end = (ptrdiff_t)dither->width - 1, step = dither->is_backwards ? -1 : 1;
    ptrdiff_t x = dither->is_backwards ? end : 0;
    point *here = dither->rows[0] + 1, *next = dither->rows[1] + 1;
    // Runs of one colour are looked up once.
    point last_wanted = {INFINITY};
    int nearest = 0;
    next[x] = (point){0};
    for (; x >= 0 && x <= end; x += step) {
        next[x + step] = (point){0};
        if ((left_out && left_out[x]) || is_clear(row + x * size, format)) {
            indices[x] = (uint8_t)clear;
            continue;
        }
        point place = point_at(row + x * size, format), owed = here[x];
        if (squared(owed) > unseen * unseen) {
            ptrdiff_t before = x > 0 ? x - 1 : x, behind = x < end ? x + 1 : x;
            owed *= dither->strength
                * share(place, point_at(row + before * size, format), point_at(row + behind * size, format),
                    point_at(above + x * size, format), point_at(below + x * size, format));
        } else {
            owed = (point){0};
        }
        point wanted = place + owed;
        if (squared(wanted - last_wanted) != 0) nearest = search_nearest(search, wanted, NULL);
        last_wanted = wanted;
        indices[x] = (uint8_t)nearest;
        point error = passed(wanted - search->places[nearest], dither->most);
        here[x + step] += error * (7.f / 16);
        next[x - step] += error * (3.f / 16);
        next[x] += error * (5.f / 16);
        next[x + step] = error * (1.f / 16);
    }
}

/// Maps a row without diffusion.
static void map_row(
    cpalette_dither *dither, cpalette_search *search, const uint8_t *row, const uint8_t *left_out, int clear,
    uint8_t *indices) {
    size_t size = (size_t)dither->format.channels;
    const uint8_t *last = NULL;
    int nearest = 0;
    for (size_t x = 0; x < dither->width; x++) {
        const uint8_t *pixel = row + x * size;
        if ((left_out && left_out[x]) || is_clear(pixel, dither->format)) {
            indices[x] = (uint8_t)clear;
            continue;
        }
        if (!last || memcmp(last, pixel, size) != 0)
            nearest = search_nearest(search, point_at(pixel, dither->format), NULL);
        last = pixel;
        indices[x] = (uint8_t)nearest;
    }
}

void cpalette_dither_row(
    cpalette_dither *dither, cpalette_search *search, const uint8_t *above, const uint8_t *row, const uint8_t *below,
    const uint8_t *left_out, int clear, uint8_t *indices) {
    if (dither->strength > 0)
        dither_row(dither, search, above, row, below, left_out, clear, indices);
    else
        map_row(dither, search, row, left_out, clear, indices);
    dither->is_backwards = !dither->is_backwards;
    point *finished = dither->rows[0];
    dither->rows[0] = dither->rows[1];
    dither->rows[1] = finished;
}
