// The resampler's loops, on rows padded exactly as CResample.h demands.
#include "CResample.h"
#include "input.h"

static size_t padded(size_t samples) { return (samples + cresample_lanes - 1) / cresample_lanes * cresample_lanes; }

/// Converts to samples and back. Opaque pixels have to be unchanged.
static void convert(input *in) {
    size_t pixels = take_number(in, 0, 300);
    uint8_t *row = take_buffer(in, pixels * 4), *back = make_buffer(pixels * 4);
    int16_t *samples = make_buffer(pixels * 4 * sizeof *samples);
    cresample_widen(row, samples, pixels * 4);
    cresample_narrow(samples, back, pixels * 4);
    REQUIRE(memcmp(row, back, pixels * 4) == 0);
    cresample_premultiply(row, samples, pixels);
    cresample_unpremultiply(samples, back, pixels);
    for (size_t i = 0; i < pixels; i++) REQUIRE(row[4 * i + 3] != 255 || memcmp(row + 4 * i, back + 4 * i, 4) == 0);
    // A kernel's overshoot may yield any sample.
    int16_t *any = take_buffer(in, pixels * 4 * sizeof *any);
    cresample_narrow(any, back, pixels * 4);
    cresample_unpremultiply(any, back, pixels);
    free(row), free(back), free(samples), free(any);
}

static void means(input *in) {
    size_t width = take_number(in, 1, 300);
    int channels = take_byte(in) & 1 ? 3 : 1, block = (int)take_number(in, 1, 255), rows = (int)take_number(in, 1, 255);
    size_t reduced = (width + (size_t)block - 1) / (size_t)block;
    uint8_t *row = take_buffer(in, width * 4);
    uint16_t *sums = make_buffer(width * (size_t)channels * sizeof *sums);
    int16_t *out = make_buffer(reduced * (size_t)channels * sizeof *out);
    for (int y = 0; y < rows; y++) cresample_add(row, sums, width * (size_t)channels);
    cresample_take_means(sums, out, width, channels, block, rows);
    for (size_t i = 0; i < reduced * (size_t)channels; i++) REQUIRE(out[i] >= 0 && out[i] <= 255 * 64);
    uint32_t *clear_sums = make_buffer(width * 4 * sizeof *clear_sums);
    int16_t *clear_out = make_buffer(reduced * 4 * sizeof *clear_out);
    for (int y = 0; y < rows; y++) cresample_add_premultiplied(row, clear_sums, width);
    cresample_take_premultiplied_means(clear_sums, clear_out, width, block, rows);
    for (size_t i = 0; i < reduced * 4; i++) REQUIRE(clear_out[i] >= 0 && clear_out[i] <= 16257);
    free(row), free(sums), free(out), free(clear_sums), free(clear_out);
}

static void columns(input *in) {
    size_t taps = 2 * take_number(in, 1, 20), count = padded(take_number(in, 1, 300));
    int16_t *weights = take_buffer(in, taps * sizeof *weights), *out = make_buffer(count * sizeof *out);
    const int16_t **rows = make_buffer(taps * sizeof *rows);
    for (size_t i = 0; i < taps; i++) {
        int16_t *row = take_buffer(in, count * sizeof *row);
        // The conversions yield at most 255 × 64, plus a kernel's overshoot.
        for (size_t x = 0; x < count; x++) row[x] %= 16321;
        rows[i] = row;
        weights[i] %= 2000;
    }
    cresample_columns(rows, weights, taps, out, count);
    for (size_t i = 0; i < taps; i++) free((void *)rows[i]);
    free(rows), free(weights), free(out);
}

static void along(input *in) {
    int channels = take_byte(in) & 1 ? 3 : 4;
    size_t taps = 4 * take_number(in, 1, 10), source = take_number(in, 1, 300), width = take_number(in, 1, 300);
    size_t pixels = source + taps;
    int16_t *row = take_buffer(in, padded(pixels * (size_t)channels + 8) * sizeof *row);
    int16_t *pairs = make_buffer(padded(pixels * 4 + 8) * sizeof *pairs);
    int32_t *starts = make_buffer(width * sizeof *starts);
    int16_t *weights = take_buffer(in, width * taps * sizeof *weights);
    for (size_t i = 0; i < width; i++) starts[i] = (int32_t)(take_number(in, 0, source - 1) & ~(size_t)1);
    for (size_t i = 0; i < padded(pixels * (size_t)channels + 8); i++) row[i] %= 16321;
    for (size_t i = 0; i < width * taps; i++) weights[i] %= 2000;
    int16_t *out = make_buffer((width * (size_t)channels + 1) * sizeof *out);
    cresample_pair(row, pairs, source, channels);
    cresample_paired_row(pairs, starts, weights, taps, channels, out, width);
    cresample_grey_row(row, starts, weights, taps, out, width);
    free(row), free(pairs), free(starts), free(weights), free(out);
}

static void colours(input *in) {
    size_t count = take_number(in, 0, 300);
    int channels = take_byte(in) & 1 ? 3 : 4;
    uint8_t *pixels = take_buffer(in, count * (size_t)channels), *encoding = take_buffer(in, cresample_encoding_steps);
    float *curves = make_buffer(768 * sizeof *curves), matrix[9];
    // A profile may contain any number, even NaN and infinity.
    uint8_t *any = take_buffer(in, sizeof matrix);
    memcpy(matrix, any, sizeof matrix);
    for (int i = 0; i < 768; i++) curves[i] = (float)take_byte(in) / 255;
    cresample_convert_colours(pixels, count, channels, curves, matrix, encoding);
    free(pixels), free(encoding), free(curves), free(any);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    switch (take_byte(&in) % 5) {
    case 0: convert(&in); break;
    case 1: means(&in); break;
    case 2: columns(&in); break;
    case 3: along(&in); break;
    default: colours(&in);
    }
    return 0;
}
