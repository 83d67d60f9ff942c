#include <string.h>

#include "CGIF.h"

void cgif_draw(
    const uint8_t *indices, size_t count, const uint8_t *palette, int transparent, uint8_t *pixels, int channels) {
    if (channels == 4 && transparent < 0) {
        for (size_t i = 0; i < count; i++) memcpy(pixels + 4 * i, palette + 4 * indices[i], 4);
    } else if (channels == 4) {
        for (size_t i = 0; i < count; i++)
            if (indices[i] != transparent) memcpy(pixels + 4 * i, palette + 4 * indices[i], 4);
    } else {
        for (size_t i = 0; i < count; i++)
            if (indices[i] != transparent) memcpy(pixels + 3 * i, palette + 4 * indices[i], 3);
    }
}
