#ifndef SEARCH_H
#define SEARCH_H

#include "CPalette.h"
#include "point.h"

/// A part of the space, with the colours that can be the nearest somewhere in it.
typedef struct {
    /// The first of its colours among the candidates, and their number; 0 if not known yet.
    uint32_t start, count;
} cell;

struct cpalette_search {
    int colours;
    point places[256];
    /// The origin of the cells, and the number of cells a unit.
    point origin, scale;
    /// How often each side is halved.
    int bits[4];
    cell *cells;
    /// Blocks of cells. Their candidates narrow those of each cell.
    cell *blocks;
    uint8_t *candidates;
    uint32_t used;
};

/// Prepares a search among points, with up to 2 to the power of `bits` cells. More cells make the first lookup in each
/// slower in total, and all others faster.
cpalette_search *search_new(const point *places, int colours, int bits);

/// Finds the colours that can be the nearest in a cell.
void search_fill(cpalette_search *search, cell *cell, const int *position);

/// Returns the nearest of all colours, for points outside the cells.
int search_all(const cpalette_search *search, point place, float *distance);

/// Returns the nearest colour and, unless `distance` is NULL, the square of its distance.
static inline int search_nearest(cpalette_search *search, point place, float *distance) {
    point relative = (place - search->origin) * search->scale;
    size_t number = 0;
    int position[4];
    for (int c = 0; c < 4; c++) {
        if (!(relative[c] >= 0 && relative[c] < (float)(1 << search->bits[c])))
            return search_all(search, place, distance);
        position[c] = (int)relative[c];
        number = number << search->bits[c] | (size_t)position[c];
    }
    cell *cell = &search->cells[number];
    if (!cell->count) search_fill(search, cell, position);
    const uint8_t *candidates = search->candidates + cell->start;
    int best = candidates[0];
    float least = squared(search->places[best] - place);
    for (uint32_t i = 1; i < cell->count; i++) {
        float this = squared(search->places[candidates[i]] - place);
        if (this >= least) continue;
        least = this;
        best = candidates[i];
    }
    if (distance) *distance = least;
    return best;
}

#endif
