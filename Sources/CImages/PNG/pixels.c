#include <string.h>

#include "CPNG.h"

void cpng_unpack(const uint8_t *in, uint8_t *out, size_t samples, int bits, bool stretch) {
    if (bits == 16) {
        for (size_t i = 0; i < samples; i++) out[i] = in[2 * i];
        return;
    }
    size_t in_a_byte = 8 / (size_t)bits;
    unsigned mask = (1u << bits) - 1;
    unsigned factor = stretch ? 255 / mask : 1;
    for (size_t i = 0; i < samples; i++) {
        unsigned shift = 8 - (unsigned)bits - (unsigned)(i % in_a_byte) * (unsigned)bits;
        out[i] = (uint8_t)((in[i / in_a_byte] >> shift & mask) * factor);
    }
}

void cpng_look_up(const uint8_t *in, uint8_t *out, size_t pixels, const uint8_t *colours, int channels) {
    size_t step = (size_t)channels;
    for (size_t i = 0; i < pixels; i++, out += step) memcpy(out, colours + 4 * in[i], step);
}

void cpng_spread_grey(const uint8_t *in, uint8_t *out, size_t pixels) {
    for (size_t i = 0; i < pixels; i++, in += 2, out += 4) {
        out[0] = out[1] = out[2] = in[0];
        out[3] = in[1];
    }
}

void cpng_pack(const uint8_t *in, uint8_t *out, size_t samples, int bits) {
    unsigned pending = 0, used = 0;
    for (size_t i = 0; i < samples; i++) {
        pending = pending << bits | in[i];
        used += (unsigned)bits;
        if (used < 8) continue;
        *out++ = (uint8_t)pending;
        used = 0;
    }
    if (used > 0) *out = (uint8_t)(pending << (8 - used));
}
