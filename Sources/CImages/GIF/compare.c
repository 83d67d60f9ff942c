#include <string.h>

#include "CGIF.h"

static int is_opaque(const uint8_t *pixel, int channels, int threshold) {
    return channels < 4 || pixel[3] >= threshold;
}

void cgif_compare(
    const uint8_t *pixels, const uint8_t *before, size_t count, int channels, int threshold, const uint8_t *shown,
    uint8_t *same) {
    size_t colours = channels < 4 ? (size_t)channels : 3;
    for (size_t i = 0; i < count; i++, pixels += channels, before += channels)
        same[i] = shown[4 * i + 3] && is_opaque(pixels, channels, threshold) && memcmp(pixels, before, colours) == 0;
}

static void widen(cgif_span *span, size_t column) {
    if (span->end == 0) span->start = column;
    span->end = column + 1;
}

/// Shorter runs of unchanged pixels are drawn anyway, since interrupting the indices costs more.
enum { SHORTEST_GAP = 8 };

static int changes_nothing(int index, const uint8_t *palette, int clear, const uint8_t *shown) {
    return index == clear || memcmp(shown, palette + 4 * index, 4) == 0;
}

cgif_span cgif_show(uint8_t *indices, size_t count, const uint8_t *palette, int clear, uint8_t *shown) {
    cgif_span changed = {0, 0};
    size_t gap = 0;
    for (size_t i = 0; i < count; i++) {
        if (changes_nothing(indices[i], palette, clear, shown + 4 * i)) continue;
        if (i - gap >= SHORTEST_GAP) memset(indices + gap, clear, i - gap);
        gap = i + 1;
        memcpy(shown + 4 * i, palette + 4 * indices[i], 4);
        widen(&changed, i);
    }
    if (count - gap >= SHORTEST_GAP) memset(indices + gap, clear, count - gap);
    return changed;
}

cgif_span cgif_uncovered(const uint8_t *next, size_t count, int channels, int threshold, const uint8_t *shown) {
    cgif_span span = {0, 0};
    for (size_t i = 0; i < count; i++)
        if (shown[4 * i + 3] && !is_opaque(next + i * (size_t)channels, channels, threshold)) widen(&span, i);
    return span;
}
