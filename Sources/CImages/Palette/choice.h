#ifndef CHOICE_H
#define CHOICE_H

#include "CPalette.h"
#include "histogram.h"

/// A colour of the picture, and how often it occurs.
typedef struct {
    point place;
    float weight;
} sample;

struct cpalette_choice {
    size_t count;
    sample *samples;
    int colours;
    point places[256];
    /// How many pixels each colour represents.
    float weights[256];
    /// The weighted sum of the samples' squared errors.
    float error;
};

#endif
