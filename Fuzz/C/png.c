// PNG: unfilters rows with any filter, and checks that filtering and packing can be undone.
#include "CPNG.h"
#include "input.h"

static void filters(input *in) {
    static const size_t pixels[] = {1, 2, 3, 4, 6, 8};
    size_t pixel = pixels[take_byte(in) % 6], length = pixel * take_number(in, 1, 600);
    uint8_t *above = take_buffer(in, length), *row = take_buffer(in, length), *out = make_buffer(length);
    // A damaged file's filter may be any byte; only five exist.
    int any = take_byte(in);
    memcpy(out, row, length);
    REQUIRE(cpng_unfilter(any, out, above, length, pixel) == (any <= 4));
    for (int filter = 0; filter <= 4; filter++) {
        cpng_filter(filter, row, above, out, length, pixel);
        REQUIRE(cpng_unfilter(filter, out, above, length, pixel));
        REQUIRE(memcmp(out, row, length) == 0);
    }
    int best = cpng_best_filter(row, above, out, length, pixel);
    REQUIRE(best >= 0 && best <= 4);
    free(above), free(row), free(out);
}

static void samples(input *in) {
    static const int depths[] = {1, 2, 4, 8, 16};
    int bits = depths[take_byte(in) % 5];
    size_t count = take_number(in, 1, 900), packed = (count * (size_t)bits + 7) / 8;
    uint8_t *row = take_buffer(in, packed), *out = make_buffer(count);
    cpng_unpack(row, out, count, bits, take_byte(in) & 1 && bits < 8);
    if (bits <= 8) {
        cpng_unpack(row, out, count, bits, false);
        uint8_t *again = make_buffer(packed), *back = make_buffer(count);
        cpng_pack(out, again, count, bits);
        cpng_unpack(again, back, count, bits, false);
        REQUIRE(memcmp(back, out, count) == 0);
        int channels = take_byte(in) & 1 ? 3 : 4;
        uint8_t *colours = take_buffer(in, 1024), *pixels = make_buffer(count * (size_t)channels);
        cpng_look_up(out, pixels, count, colours, channels);
        free(again), free(back), free(colours), free(pixels);
    }
    uint8_t *grey = take_buffer(in, count * 2), *rgba = make_buffer(count * 4);
    cpng_spread_grey(grey, rgba, count);
    free(row), free(out), free(grey), free(rgba);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    if (take_byte(&in) & 1)
        filters(&in);
    else
        samples(&in);
    return 0;
}
