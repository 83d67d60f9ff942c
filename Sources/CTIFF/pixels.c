// Conversion from rows of samples to pixels.
#include <math.h>
#include <string.h>

#include "file.h"

static uint16_t deep_level(const ctiff_file *file, uint16_t sample) {
    return file->min_is_white ? UINT16_MAX - sample : sample;
}

static uint8_t level(const ctiff_file *file, uint16_t sample) { return (uint8_t)(deep_level(file, sample) >> 8); }

/// Undoes the multiplication by alpha.
static uint16_t divided(uint16_t sample, uint16_t alpha) {
    if (alpha == 0) return 0;
    uint32_t value = (uint32_t)sample * UINT16_MAX / alpha;
    return (uint16_t)(value > UINT16_MAX ? UINT16_MAX : value);
}

/// The sRGB level of linear light.
static uint8_t encoded(double light) {
    if (!(light > 0)) return 0;
    if (light >= 1) return 255;
    return (uint8_t)((light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055) * 255 + 0.5);
}

/// The inverse of CIELAB's cube root (ISO 11664-4).
static double cubed(double value) {
    return value > 6.0 / 29 ? value * value * value : 3 * (6.0 / 29) * (6.0 / 29) * (value - 4.0 / 29);
}

/// Converts CIELAB relative to D50, as in TIFF and profiles, to sRGB.
static void put_lab(const ctiff_file *file, const uint16_t *sample, uint8_t *out) {
    bool is_icc = file->meaning == ICCLAB;
    double whole = file->bits == 8 || is_icc ? 0xff00 : 0xffff;
    double lightness = sample[0] * 100 / whole;
    double a = is_icc ? (sample[1] - 32768) / 256.0 : (int16_t)sample[1] / 256.0;
    double b = is_icc ? (sample[2] - 32768) / 256.0 : (int16_t)sample[2] / 256.0;
    double middle = (lightness + 16) / 116;
    double x = 0.96422 * cubed(middle + a / 500), y = cubed(middle), z = 0.82521 * cubed(middle - b / 200);
    // D50 to linear sRGB, adapted by Bradford's matrix.
    out[0] = encoded(3.1338561 * x - 1.6168667 * y - 0.4906146 * z);
    out[1] = encoded(-0.9787684 * x + 1.9161415 * y + 0.0334540 * z);
    out[2] = encoded(0.0719453 * x - 0.2289914 * y + 1.4052427 * z);
}

static void put_indexed(const ctiff_file *file, uint16_t index, uint8_t *out) {
    // libtiff has a colour for each index.
    out[0] = (uint8_t)(file->red[index] >> 8);
    out[1] = (uint8_t)(file->green[index] >> 8);
    out[2] = (uint8_t)(file->blue[index] >> 8);
}

void put_pixels(const ctiff_file *file, const uint16_t *wide, uint8_t *out) {
    size_t channels = (size_t)file->header.channels;
    size_t colours = file->meaning == GREY ? 1 : file->meaning == INK ? 4 : 3;
    bool has_alpha = channels == 4 && file->meaning != INK;
    for (uint32_t x = 0; x < file->header.width; x++, wide += file->samples, out += channels) {
        uint16_t alpha = has_alpha ? wide[file->alpha] : UINT16_MAX;
        if (file->meaning == PALETTE) {
            put_indexed(file, wide[0], out);
            // Indices aren't scaled, so alpha next to them isn't either.
            if (has_alpha) alpha = (uint16_t)(alpha * (uint32_t)UINT16_MAX / ((1u << file->bits) - 1));
        } else if (file->meaning == CIELAB || file->meaning == ICCLAB) {
            put_lab(file, wide, out);
        } else {
            bool divides = has_alpha && file->is_associated;
            for (size_t c = 0; c < colours; c++) out[c] = level(file, divides ? divided(wide[c], alpha) : wide[c]);
            if (colours == 1 && channels == 4) out[1] = out[2] = out[0];
        }
        if (has_alpha) out[3] = (uint8_t)(alpha >> 8);
    }
}

void put_deep_pixels(const ctiff_file *file, const uint16_t *wide, uint16_t *out) {
    size_t channels = (size_t)file->header.channels, colours = file->meaning == GREY ? 1 : 3;
    for (uint32_t x = 0; x < file->header.width; x++, wide += file->samples, out += channels) {
        uint16_t alpha = channels == 4 ? wide[file->alpha] : UINT16_MAX;
        bool divides = channels == 4 && file->is_associated;
        for (size_t c = 0; c < colours; c++) out[c] = deep_level(file, divides ? divided(wide[c], alpha) : wide[c]);
        if (colours == 1 && channels == 4) out[1] = out[2] = out[0];
        if (channels == 4) out[3] = alpha;
    }
}
