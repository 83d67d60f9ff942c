// ICC profiles: checks any bytes, and hands accepted profiles to LittleCMS.
#include "CVips.h"
#include "input.h"

enum { WIDTH = 9, HEIGHT = 3, PIXELS = WIDTH * HEIGHT };

/// Converts pixels of one, three or four channels, or of inks.
static void convert(const uint8_t *profile, size_t count, bool is_bounded, int kind, input choices) {
    static const int channels[] = {1, 3, 4, 4};
    static const char *const spaces[] = {"GRAY", "RGB ", "RGB ", "CMYK"};
    // Callers check the colour space, since libvips would take red for grey.
    if (count < 20 || memcmp(profile + 16, spaces[kind], 4) != 0) return;
    int samples = channels[kind];
    size_t patience = take_byte(&choices) % 4 ? SIZE_MAX : take_number(&choices, 1, 8);
    cvips_cancellation cancellation = {counts_down, &patience};
    cvips_failure failure = {0};
    uint8_t *pixels = make_buffer(PIXELS * (size_t)samples), *before = make_buffer(PIXELS * (size_t)samples);
    for (int i = 0; i < PIXELS * samples; i++) pixels[i] = before[i] = (uint8_t)(i * 89);
    if (kind < 3) {
        REQUIRE(
            cvips_convert_to_srgb(pixels, WIDTH, HEIGHT, samples, profile, count, cancellation, &failure)
            || patience == 0);
        REQUIRE(is_bounded || memcmp(pixels, before, PIXELS * (size_t)samples) == 0);
        for (int i = 0; samples == 4 && i < PIXELS; i++) REQUIRE(pixels[4 * i + 3] == before[4 * i + 3]);
    } else {
        uint8_t *out = make_buffer(PIXELS * 3);
        bool is_usable = false;
        REQUIRE(
            cvips_convert_inks(pixels, WIDTH, HEIGHT, profile, count, out, &is_usable, cancellation, &failure)
            || patience == 0);
        REQUIRE(is_bounded || !is_usable);
        free(out);
    }
    cvips_thread_will_end();
    free(pixels);
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    uint8_t *profile = make_buffer(count);
    memcpy(profile, bytes, count);
    bool is_bounded = cvips_is_bounded_profile(profile, count);
    input choices = take_choices(bytes, count);
    // Half of the inputs are only checked, which is a thousand times as fast.
    int kind = take_byte(&choices) % 8;
    if (kind < 4) convert(profile, count, is_bounded, kind, choices);
    free(profile);
    return 0;
}
