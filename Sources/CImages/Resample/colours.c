// Conversions from other primaries and from inks.
#include "CResample.h"

void cresample_convert_colours(
    uint8_t *pixels, size_t count, int channels, const float *curves, const float *matrix, const uint8_t *encoding) {
    const float last = cresample_encoding_steps - 1;
    for (size_t i = 0; i < count; i++, pixels += channels) {
        float red = curves[pixels[0]];
        float green = curves[256 + pixels[1]];
        float blue = curves[512 + pixels[2]];
        for (int c = 0; c < 3; c++) {
            float light = matrix[3 * c] * red + matrix[3 * c + 1] * green + matrix[3 * c + 2] * blue;
            light = light > 0 ? light : 0;
            light = light < 1 ? light : 1;
            pixels[c] = encoding[(int)(light * last + 0.5f)];
        }
    }
}

void cresample_mix_inks(const uint8_t *inks, uint8_t *out, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, inks += 4, out += 3)
        for (int c = 0; c < 3; c++) out[c] = (uint8_t)(((255 - inks[c]) * (255 - inks[3]) + 127) / 255);
}
