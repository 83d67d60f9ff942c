// Makes a first palette by splitting the box of all samples again and again, always where that reduces the error most.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"

/// The samples that one colour represents.
typedef struct {
    size_t start, count;
    point mean;
    float weight;
    /// How much the error falls if the box is split at its best place: on this axis, at this value.
    float gain, cut;
    int axis;
} box;

/// How many places to split at are tried on each axis.
enum { BINS = 64 };

/// How much the error falls if samples get their own colour. `sum` is their sum relative to the box's mean.
static float explained(point sum, float weight) { return weight > 0 ? squared(sum) / weight : 0; }

/// Tries one axis, on which the box is `width` long.
static void try_axis(const sample *samples, box *box, int axis, float least, float width) {
    point sums[BINS], sum = {0};
    float weights[BINS], weight = 0;
    memset(sums, 0, sizeof sums);
    memset(weights, 0, sizeof weights);
    float scale = (float)BINS * 0.9999f / width;
    for (size_t i = box->start; i < box->start + box->count; i++) {
        int bin = (int)((samples[i].place[axis] - least) * scale);
        sums[bin] += (samples[i].place - box->mean) * samples[i].weight;
        weights[bin] += samples[i].weight;
    }
    for (int bin = 0; bin < BINS - 1; bin++) {
        sum += sums[bin];
        weight += weights[bin];
        // The rest has the same sum with the opposite sign.
        float gain = explained(sum, weight) + explained(sum, box->weight - weight);
        if (gain <= box->gain) continue;
        box->gain = gain;
        box->axis = axis;
        box->cut = least + (float)(bin + 1) / scale;
    }
}

/// Finds where a box is best split.
static void measure(const sample *samples, box *box) {
    point least = samples[box->start].place, most = least, sum = {0};
    box->weight = box->gain = 0;
    for (size_t i = box->start; i < box->start + box->count; i++) {
        point place = samples[i].place;
        sum += place * samples[i].weight;
        box->weight += samples[i].weight;
        for (int c = 0; c < 4; c++) {
            least[c] = place[c] < least[c] ? place[c] : least[c];
            most[c] = place[c] > most[c] ? place[c] : most[c];
        }
    }
    box->mean = sum / box->weight;
    point width = most - least;
    for (int axis = 0; axis < 4; axis++) {
        // Splitting a narrow side gains little.
        if (width[axis] * width[axis] > squared(width) / 16) try_axis(samples, box, axis, least[axis], width[axis]);
    }
}

/// Moves samples below the cut to the front, and returns their number.
static size_t divide(sample *samples, const box *box) {
    size_t low = box->start, high = box->start + box->count;
    while (low < high) {
        if (samples[low].place[box->axis] < box->cut) {
            low++;
        } else {
            sample other = samples[--high];
            samples[high] = samples[low];
            samples[low] = other;
        }
    }
    return low - box->start;
}

static int split(sample *samples, size_t count, int most, box *boxes) {
    boxes[0] = (box){.count = count};
    measure(samples, &boxes[0]);
    int made = 1;
    while (made < most) {
        box *best = &boxes[0];
        for (int i = 1; i < made; i++)
            if (boxes[i].gain > best->gain) best = &boxes[i];
        if (best->gain <= 0) break;
        size_t low = divide(samples, best);
        if (low == 0 || low == best->count) {
            // Only rounding made the gain.
            best->gain = 0;
            continue;
        }
        boxes[made] = (box){.start = best->start + low, .count = best->count - low};
        best->count = low;
        measure(samples, best);
        measure(samples, &boxes[made]);
        made++;
    }
    return made;
}

cpalette_choice *cpalette_choose(const cpalette_histogram *histogram, int colours) {
    cpalette_choice *choice = calloc(1, sizeof *choice);
    if (!choice) return NULL;
    choice->count = histogram->count;
    choice->samples = malloc((histogram->count + 1) * sizeof *choice->samples);
    if (!choice->samples) {
        cpalette_choice_free(choice);
        return NULL;
    }
    for (size_t i = 0; i < histogram->count; i++) {
        const histogram_entry *entry = &histogram->entries[i];
        choice->samples[i] = (sample){.place = histogram_place(entry), .weight = (float)entry->count};
    }
    if (choice->count <= (size_t)colours) {
        choice->colours = (int)choice->count;
        for (int i = 0; i < choice->colours; i++) {
            choice->places[i] = choice->samples[i].place;
            choice->weights[i] = choice->samples[i].weight;
        }
        return choice;
    }
    box boxes[256];
    choice->colours = split(choice->samples, choice->count, colours, boxes);
    for (int i = 0; i < choice->colours; i++) {
        choice->places[i] = boxes[i].mean;
        choice->weights[i] = boxes[i].weight;
    }
    choice->error = INFINITY;
    return choice;
}

void cpalette_choice_free(cpalette_choice *choice) {
    if (!choice) return;
    free(choice->samples);
    free(choice);
}
