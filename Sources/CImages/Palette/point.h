/// The space in which colours are compared.
///
/// A point is the colour as it looks on mid-grey, and its alpha. So the square of a distance is the mean of those on
/// black and on white, and the mean of points is what colours look like side by side. Channels are weighted by how well
/// the eye distinguishes them, but less strongly, or blue would be nearly lost.
#ifndef POINT_H
#define POINT_H

#include <stdint.h>

#include "CPalette.h"

typedef float point __attribute__((vector_size(16)));

static const float red_weight = 0.85f, green_weight = 1, blue_weight = 0.7f;

/// Half the length of the three weights.
static const float alpha_weight = 0.744f;

static const float middle = 127.5f;

/// An extra distance between opaque and translucent colours, so that opaque pixels stay opaque.
static const float gap = 96;

static inline point point_of(uint8_t red, uint8_t green, uint8_t blue, uint8_t alpha) {
    if (alpha == 255)
        return (point){red_weight * red, green_weight * green, blue_weight * blue, alpha_weight * (255 + gap)};
    float share = (float)alpha / 255;
    return (point){
        red_weight * (middle + ((float)red - middle) * share),
        green_weight * (middle + ((float)green - middle) * share),
        blue_weight * (middle + ((float)blue - middle) * share), alpha_weight * (float)alpha};
}

static inline bool is_clear(const uint8_t *pixel, cpalette_format format) {
    return format.channels == 4 && (format.threshold ? pixel[3] < format.threshold : pixel[3] == 0);
}

/// The point of a pixel that isn't transparent.
static inline point point_at(const uint8_t *pixel, cpalette_format format) {
    if (format.channels == 1) return point_of(pixel[0], pixel[0], pixel[0], 255);
    return point_of(pixel[0], pixel[1], pixel[2], format.channels == 4 && !format.threshold ? pixel[3] : 255);
}

static inline uint8_t byte_of(float value) { return value <= 0 ? 0 : value >= 255 ? 255 : (uint8_t)(value + 0.5f); }

/// The RGBA colour at a point.
static inline void colour_at(point place, uint8_t *colour) {
    float alpha = place[3] / alpha_weight;
    bool is_opaque = alpha >= 255 + gap / 2;
    colour[3] = is_opaque ? 255 : alpha < 1 ? 1 : alpha > 254 ? 254 : byte_of(alpha);
    float scale = 255.f / (float)colour[3];
    colour[0] = byte_of((place[0] / red_weight - middle) * scale + middle);
    colour[1] = byte_of((place[1] / green_weight - middle) * scale + middle);
    colour[2] = byte_of((place[2] / blue_weight - middle) * scale + middle);
}

static inline float squared(point place) {
    point squares = place * place;
    return (squares[0] + squares[1]) + (squares[2] + squares[3]);
}

#endif
