#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

enum {
    /// The most times that a side is halved.
    MOST_BITS = 8,
    /// How many of these halvings divide a block into cells.
    BLOCK_BITS = 2,
    /// The number of cells for a picture's pixels, as a power of two.
    PICTURE_BITS = 16,
};

/// How far the cells reach beyond the palette's bounds, plus a share of their length.
static const float margin = 2, share = 1.f / 16;

static int block_bits(const cpalette_search *search, int c) {
    return search->bits[c] > BLOCK_BITS ? search->bits[c] - BLOCK_BITS : 0;
}

/// Divides the palette's bounds into cells that are as cubic as halving allows. Returns the number of halvings.
static int divide(cpalette_search *search, int bits) {
    point least = search->places[0], most = least;
    for (int i = 1; i < search->colours; i++) {
        for (int c = 0; c < 4; c++) {
            least[c] = search->places[i][c] < least[c] ? search->places[i][c] : least[c];
            most[c] = search->places[i][c] > most[c] ? search->places[i][c] : most[c];
        }
    }
    point around = margin + share * (most - least);
    search->origin = least - around;
    point length = most - least + 2 * around, side = length;
    int used = 0;
    for (; used < bits; used++) {
        int longest = 0;
        for (int c = 1; c < 4; c++)
            if (side[c] > side[longest]) longest = c;
        if (search->bits[longest] == MOST_BITS) break;
        side[longest] /= 2;
        search->bits[longest]++;
    }
    for (int c = 0; c < 4; c++) search->scale[c] = (float)(1 << search->bits[c]) / length[c];
    return used;
}

cpalette_search *search_new(const point *places, int colours, int bits) {
    cpalette_search *search = calloc(1, sizeof *search);
    if (!search) return NULL;
    search->colours = colours;
    memcpy(search->places, places, (size_t)colours * sizeof *places);
    int cell_bits = divide(search, bits), all_block_bits = 0;
    for (int c = 0; c < 4; c++) all_block_bits += block_bits(search, c);
    size_t cells = (size_t)1 << cell_bits, blocks = (size_t)1 << all_block_bits;
    search->cells = calloc(cells, sizeof *search->cells);
    search->blocks = calloc(blocks, sizeof *search->blocks);
    // Space for the worst case. Unused pages take no memory.
    search->candidates = malloc((cells + blocks) * (size_t)colours);
    if (search->cells && search->blocks && search->candidates) return search;
    cpalette_search_free(search);
    return NULL;
}

cpalette_search *cpalette_search_new(const uint8_t *palette, int colours) {
    point places[256];
    for (int i = 0; i < colours; i++, palette += 4)
        places[i] = point_of(palette[0], palette[1], palette[2], palette[3]);
    return search_new(places, colours, PICTURE_BITS);
}

void cpalette_search_free(cpalette_search *search) {
    if (!search) return;
    free(search->cells);
    free(search->blocks);
    free(search->candidates);
    free(search);
}

/// Selects the colours that can be the nearest somewhere in a box: those whose nearest point of the box is no further
/// away than any colour's furthest point.
static uint32_t candidates(
    const cpalette_search *search, point low, point high, const uint8_t *from, uint32_t count, uint8_t *out) {
    float nearest[256], bound = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        point below = low - search->places[from[i]], above = search->places[from[i]] - high;
        point near = {0}, far = {0};
        for (int c = 0; c < 4; c++) {
            float outside = below[c] > above[c] ? below[c] : above[c];
            near[c] = outside > 0 ? outside : 0;
            far[c] = below[c] < above[c] ? below[c] : above[c];
        }
        nearest[i] = squared(near);
        float furthest = squared(far);
        if (furthest < bound) bound = furthest;
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (nearest[i] <= bound) out[found++] = from[i];
    return found;
}

/// Fills a cell at a position, where sides are halved `bits` times.
static void fill(
    cpalette_search *search, cell *cell, const int *position, const int *bits, const uint8_t *from, uint32_t count) {
    point low = search->origin, high;
    for (int c = 0; c < 4; c++) {
        float side = (float)(1 << (search->bits[c] - bits[c])) / search->scale[c];
        low[c] += (float)position[c] * side;
        high[c] = low[c] + side;
    }
    cell->start = search->used;
    cell->count = candidates(search, low, high, from, count, search->candidates + search->used);
    search->used += cell->count;
}

void search_fill(cpalette_search *search, cell *wanted, const int *position) {
    int place[4], bits[4];
    size_t number = 0;
    for (int c = 0; c < 4; c++) {
        bits[c] = block_bits(search, c);
        place[c] = position[c] >> (search->bits[c] - bits[c]);
        number = number << bits[c] | (size_t)place[c];
    }
    cell *block = &search->blocks[number];
    if (!block->count) {
        uint8_t all[256];
        for (int i = 0; i < search->colours; i++) all[i] = (uint8_t)i;
        fill(search, block, place, bits, all, (uint32_t)search->colours);
    }
    fill(search, wanted, position, search->bits, search->candidates + block->start, block->count);
}

int search_all(const cpalette_search *search, point place, float *distance) {
    int best = 0;
    float least = INFINITY;
    for (int i = 0; i < search->colours; i++) {
        float this = squared(search->places[i] - place);
        if (this >= least) continue;
        least = this;
        best = i;
    }
    if (distance) *distance = least;
    return best;
}

float cpalette_search_error(cpalette_search *search, const cpalette_histogram *histogram) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < histogram->count; i++) {
        float distance;
        search_nearest(search, histogram_place(&histogram->entries[i]), &distance);
        sum += (double)distance * histogram->entries[i].count;
        count += histogram->entries[i].count;
    }
    return count > 0 ? (float)sqrt(sum / count) : 0;
}
