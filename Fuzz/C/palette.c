// Palettes: any picture, number of colours and dithering. Every index has to be in the palette.
#include "CPalette.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    static const int channels[] = {1, 3, 4};
    cpalette_format format = {.channels = channels[take_byte(&in) % 3]};
    if (format.channels == 4 && take_byte(&in) & 1) format.threshold = 1 + take_byte(&in) % 255;
    size_t width = take_number(&in, 1, 80), height = take_number(&in, 1, 40);
    int colours = (int)take_number(&in, 1, 256);
    float strength = (float)take_byte(&in) / 255;
    size_t length = width * (size_t)format.channels;
    bool leaves_out = take_byte(&in) & 1;
    cpalette_histogram *histogram = cpalette_histogram_new(take_number(&in, 2, 3000));
    uint8_t *pixels = take_buffer(&in, length * height), *left_out = take_buffer(&in, width * height);
    for (size_t i = 0; i < width * height; i++) left_out[i] &= 1;
    for (size_t y = 0; y < height; y++)
        cpalette_histogram_add(
            histogram, pixels + y * length, leaves_out ? left_out + y * width : NULL, width, format);
    REQUIRE(cpalette_histogram_count(histogram) <= width * height);
    uint8_t palette[1024] = {0, 0, 0, 255};
    int taken = 0;
    if (cpalette_histogram_count(histogram) > 0) {
        cpalette_choice *choice = cpalette_choose(histogram, colours);
        for (int i = 0; i < 4 && cpalette_improve(choice); i++) {}
        taken = cpalette_take(choice, palette);
        cpalette_choice_free(choice);
        REQUIRE(taken >= 1 && taken <= colours);
    } else {
        taken = 1;
    }
    uint8_t *exact = make_buffer((size_t)taken * 4);
    memcpy(exact, palette, (size_t)taken * 4);
    cpalette_search *search = cpalette_search_new(exact, taken);
    float error = cpalette_search_error(search, histogram);
    REQUIRE(error >= 0);
    cpalette_dither *dither = cpalette_dither_new(width, format, strength, error);
    int clear = taken < 256 ? taken : 255;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = pixels + y * length;
        const uint8_t *above = y > 0 ? row - length : row, *below = y + 1 < height ? row + length : row;
        uint8_t *indices = make_buffer(width);
        cpalette_dither_row(
            dither, search, above, row, below, leaves_out ? left_out + y * width : NULL, clear, indices);
        for (size_t x = 0; x < width; x++) REQUIRE(indices[x] < taken || indices[x] == clear);
        free(indices);
    }
    cpalette_dither_free(dither);
    cpalette_search_free(search);
    cpalette_histogram_free(histogram);
    free(exact), free(pixels), free(left_out);
    return 0;
}
