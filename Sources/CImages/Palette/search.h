#ifndef SEARCH_H
#define SEARCH_H

#include "CPalette.h"
#include "point.h"

/// A part of the space, and which colours can be the nearest somewhere in it.
typedef struct {
    /// Where its colours begin among the candidates, and how many they are; 0 if that isn't known yet.
    uint32_t start, count;
} cell;

struct cpalette_search {
    int colours;
    point places[256];
    /// Where the cells begin, and how many there are in a unit.
    point origin, scale;
    /// How often each side is halved.
    int bits[4];
    cell *cells;
    /// The same of blocks of cells, in which fewer colours are looked at for each of these.
    cell *blocks;
    uint8_t *candidates;
    uint32_t used;
};

/// Prepares to look among places. There are 2 to the power of `bits` cells: the more there are, the more is done for
/// them at the first look, and the less from then on.
cpalette_search *search_new(const point *places, int colours, int bits);

/// Finds out which colours can be the nearest in a cell.
void search_fill(cpalette_search *search, cell *cell, const int *position);

/// The nearest colour of all, for what lies outside of the cells.
int search_all(const cpalette_search *search, point place, float *distance);

/// The nearest colour; and the square of its distance, if that is asked for.
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
