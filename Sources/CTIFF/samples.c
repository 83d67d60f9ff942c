// Conversion from samples of any width and type to 16 bits.
#include <math.h>
#include <string.h>

#include "file.h"

/// Reads bits, the highest of a byte first.
static uint32_t bits_at(const uint8_t *in, size_t position, int count) {
    uint32_t value = 0;
    for (int bit = 0; bit < count; bit++, position++) value = value << 1 | (in[position / 8] >> (7 - position % 8) & 1);
    return value;
}

/// Reads a floating-point number of 16 bits (IEEE 754's half), or of 24 bits (TIFF Technical Note 3).
static double small_float(uint32_t bits, int exponent_bits, int fraction_bits) {
    int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    uint32_t fraction = bits & ((1u << fraction_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    double value = exponent == 0 ? ldexp(fraction, 1 - bias - fraction_bits)
                                 : ldexp((double)(fraction | 1u << fraction_bits), exponent - bias - fraction_bits);
    if (exponent == (1 << exponent_bits) - 1) value = fraction == 0 ? INFINITY : NAN;
    return bits >> (exponent_bits + fraction_bits) & 1 ? -value : value;
}

static double float_at(const uint8_t *in, size_t index, int bits) {
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, in + 2 * index, sizeof value);
        return small_float(value, 5, 10);
    }
    if (bits == 24) {
        const uint8_t *bytes = in + 3 * index;
        // In this machine's byte order, as libtiff leaves them.
        return small_float((uint32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16), 7, 16);
    }
    if (bits == 32) {
        float value;
        memcpy(&value, in + 4 * index, sizeof value);
        return value;
    }
    double value;
    memcpy(&value, in + 8 * index, sizeof value);
    return value;
}

static int64_t signed_at(const uint8_t *in, size_t index, int bits) {
    if (bits == 8) return (int8_t)in[index];
    if (bits == 16) {
        int16_t value;
        memcpy(&value, in + 2 * index, sizeof value);
        return value;
    }
    int32_t value;
    memcpy(&value, in + 4 * index, sizeof value);
    return value;
}

static uint32_t unsigned_at(const uint8_t *in, size_t index, int bits) {
    if (bits == 8) return in[index];
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, in + 2 * index, sizeof value);
        return value;
    }
    if (bits == 24) {
        const uint8_t *bytes = in + 3 * index;
        return (uint32_t)(bytes[0] | bytes[1] << 8 | bytes[2] << 16);
    }
    if (bits == 32) {
        uint32_t value;
        memcpy(&value, in + 4 * index, sizeof value);
        return value;
    }
    return bits_at(in, index * (size_t)bits, bits);
}

static double number_at(const ctiff_file *file, const uint8_t *in, size_t index) {
    return file->format == SAMPLEFORMAT_IEEEFP ? float_at(in, index, file->bits)
                                               : (double)signed_at(in, index, file->bits);
}

void measure(const ctiff_file *file, const uint8_t *in, size_t count, double *low, double *high) {
    for (size_t i = 0; i < count; i++) {
        double value = number_at(file, in, i);
        if (value < *low) *low = value;
        if (value > *high && value < INFINITY) *high = value;
    }
}

/// The sRGB encoding of linear light.
static double encoded(double light) {
    return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static uint16_t spread(const ctiff_file *file, double value) {
    double share = (value - file->low) / (file->high - file->low);
    // NaN too.
    if (!(share > 0)) return 0;
    if (share >= 1) return UINT16_MAX;
    return (uint16_t)((file->is_linear ? encoded(share) : share) * UINT16_MAX + 0.5);
}

static void widen_numbers(const ctiff_file *file, const uint8_t *in, size_t count, uint16_t *out, size_t step) {
    for (size_t i = 0; i < count; i++) out[i * step] = spread(file, number_at(file, in, i));
}

void widen(const ctiff_file *file, const uint8_t *in, size_t count, uint16_t *out, size_t step) {
    int bits = file->bits;
    bool is_lab = file->meaning == CIELAB || file->meaning == ICCLAB;
    if (file->meaning == PALETTE) {
        for (size_t i = 0; i < count; i++) out[i * step] = (uint16_t)unsigned_at(in, i, bits);
    } else if (!is_lab && (file->format == SAMPLEFORMAT_IEEEFP || file->format == SAMPLEFORMAT_INT)) {
        widen_numbers(file, in, count, out, step);
    } else if (is_lab) {
        // Unscaled; the 8 bits of a byte become the high byte.
        for (size_t i = 0; i < count; i++)
            out[i * step] = (uint16_t)(bits == 8 ? in[i] << 8 : (int)unsigned_at(in, i, bits));
    } else if (bits == 8) {
        for (size_t i = 0; i < count; i++) out[i * step] = (uint16_t)(in[i] * 257);
    } else if (bits == 16) {
        for (size_t i = 0; i < count; i++) memcpy(out + i * step, in + 2 * i, sizeof *out);
    } else if (bits > 16) {
        for (size_t i = 0; i < count; i++) out[i * step] = (uint16_t)(unsigned_at(in, i, bits) >> (bits - 16));
    } else {
        uint32_t most = (1u << bits) - 1;
        for (size_t i = 0; i < count; i++) out[i * step] = (uint16_t)(unsigned_at(in, i, bits) * UINT16_MAX / most);
    }
}
