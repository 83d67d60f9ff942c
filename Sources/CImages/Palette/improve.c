#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "search.h"

/// The error has to shrink to this share for another pass to be worthwhile.
static const float worth = 0.998f;

bool cpalette_improve(cpalette_choice *choice) {
    if (choice->error == 0) return false;
    cpalette_search *search = search_new(choice->places, choice->colours, 13);
    if (!search) return false;
    point sums[256];
    float error = 0, worst = 0;
    memset(sums, 0, sizeof sums);
    memset(choice->weights, 0, sizeof choice->weights);
    size_t furthest = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const sample *sample = &choice->samples[i];
        float distance;
        int nearest = search_nearest(search, sample->place, &distance);
        sums[nearest] += sample->place * sample->weight;
        choice->weights[nearest] += sample->weight;
        distance *= sample->weight;
        error += distance;
        if (distance <= worst) continue;
        worst = distance;
        furthest = i;
    }
    cpalette_search_free(search);
    for (int i = 0; i < choice->colours; i++) {
        // A colour that represents nothing moves to the sample with the largest error.
        choice->places[i] =
            choice->weights[i] > 0 ? sums[i] / choice->weights[i] : choice->samples[furthest].place;
    }
    bool is_better = error < choice->error * worth;
    choice->error = error;
    return is_better;
}

typedef struct {
    uint8_t colour[4];
    float weight;
} weighted;

/// The least opaque first, since trailing opaque alphas need not be written; then the most frequent.
static int compare(const void *first, const void *second) {
    const weighted *a = first, *b = second;
    if (a->colour[3] != b->colour[3]) return a->colour[3] - b->colour[3];
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return memcmp(a->colour, b->colour, 3);
}

int cpalette_take(const cpalette_choice *choice, uint8_t *palette) {
    weighted colours[256];
    int count = 0;
    for (int i = 0; i < choice->colours; i++) {
        weighted *new = &colours[count];
        colour_at(choice->places[i], new->colour);
        new->weight = choice->weights[i];
        // Some may be equal in eight bits.
        int same = 0;
        while (memcmp(colours[same].colour, new->colour, 4) != 0) same++;
        if (same == count) count++;
        else colours[same].weight += new->weight;
    }
    qsort(colours, (size_t)count, sizeof *colours, compare);
    for (int i = 0; i < count; i++) memcpy(palette + 4 * i, colours[i].colour, 4);
    return count;
}
