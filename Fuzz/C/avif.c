// AVIF: decodes any file as a sequence, and as a tile of a still picture and of its transparency; and encodes pictures.
#define _GNU_SOURCE
#include "CAVIF.h"
#include "input.h"

enum { MOST_PIXELS = 1 << 18, MOST_FRAMES = 6 };

/// Returns a copy with exactly the file's size.
static uint8_t *copy(const input *in) {
    uint8_t *file = make_buffer(in->left);
    memcpy(file, in->bytes, in->left);
    return file;
}

/// Reads a 16-bit number `offset` bytes after the first "av01", where a track states its frames' size.
static int dimension(const input *in, size_t offset) {
    const uint8_t *entry = memmem(in->bytes, in->left, "av01", 4);
    size_t left = entry ? in->left - (size_t)(entry - in->bytes) : 0;
    return left > offset + 1 ? entry[offset] << 8 | entry[offset + 1] : 64;
}

static void sequence(const input *in, input *choices) {
    size_t patience = take_byte(choices) % 4 ? SIZE_MAX : take_number(choices, 1, 60);
    int channels = take_byte(choices) & 1 ? 3 : 4, width = dimension(in, 28), height = dimension(in, 30);
    uint8_t *file = copy(in);
    cavif_failure failure = {0};
    cavif_sequence *sequence =
        cavif_open(file, in->left, MOST_PIXELS, MOST_FRAMES, (cavif_cancellation){counts_down, &patience}, &failure);
    if (sequence) {
        bool is_small = (size_t)width * (size_t)height <= MOST_PIXELS && width > 0 && height > 0;
        for (int frame = 0; is_small && frame < MOST_FRAMES; frame++) {
            size_t size = (size_t)width * (size_t)height * (size_t)channels;
            uint8_t *canvas = make_buffer(size);
            double end = 0;
            bool is_read = cavif_next(sequence, width, height, channels, canvas, &end, &failure);
            free(canvas);
            if (!is_read) break;
        }
        cavif_close(sequence);
    }
    REQUIRE(memchr(failure.message, 0, sizeof failure.message));
    free(file);
}

/// Adds the file to a canvas at several places.
static void still(const input *in, input *choices) {
    cavif_tile place = {.width = (int)take_number(choices, 1, 300), .height = (int)take_number(choices, 1, 300)};
    int count = 1 + take_byte(choices) % 4, channels = take_byte(choices) & 1 ? 3 : 4;
    bool is_whole = take_byte(choices) & 1, is_premultiplied = take_byte(choices) & 1;
    int depth = take_byte(choices) & 1 ? 8 : 16;
    if (is_whole) (place.width = dimension(in, 28)), (place.height = dimension(in, 30));
    uint8_t *file = copy(in);
    cavif_failure failure = {0};
    cavif_still *still = cavif_still_new();
    REQUIRE(still);
    bool is_added = place.width > 0 && place.height > 0 && (size_t)place.width * (size_t)place.height <= MOST_PIXELS;
    for (int index = 0; is_added && index < count; index++) {
        is_added = cavif_still_add(still, file, in->left, MOST_PIXELS, place, &failure);
        place.is_alpha = index + 2 == count;
        place.left = is_whole ? 0 : place.left + 64;
        if (place.left >= place.width) (place.left = 0), (place.top += 64);
    }
    if (is_added) {
        cavif_planes planes = cavif_still_planes(still);
        REQUIRE(planes.width == place.width && planes.height == place.height);
        REQUIRE((planes.count == 1 || planes.count == 3) && planes.depth >= 8 && planes.depth <= 12);
        for (int p = 0; p < planes.count; p++) REQUIRE(planes.rows[p] && planes.row_bytes[p] > 0);
        uint8_t *pixels = make_buffer((size_t)place.width * (size_t)place.height * (size_t)(channels * depth / 8));
        cavif_still_rgb(still, channels, depth, is_premultiplied, pixels, &failure);
        free(pixels);
    }
    REQUIRE(memchr(failure.message, 0, sizeof failure.message));
    cavif_still_free(still);
    free(file);
}

/// Encodes frames, and checks that they are decoded at their size.
static void encode(input *in) {
    cavif_encoding encoding = {
        .width = (int)take_number(in, 1, 40), .height = (int)take_number(in, 1, 30),
        .channels = take_byte(in) & 1 ? 3 : 4, .quality = (int)take_number(in, 1, 100), .effort = take_byte(in) % 4,
        .lossless = take_byte(in) & 1, .full_chroma = take_byte(in) & 1, .depth = 8};
    int frames = 1 + take_byte(in) % 3;
    if (frames == 1) {
        encoding.is_still = true;
        encoding.depth = 8 + 2 * (take_byte(in) % 3);
        if (take_byte(in) & 1) encoding.channels = 1;
    }
    size_t size = (size_t)encoding.width * (size_t)encoding.height * (size_t)encoding.channels, count = 0;
    if (encoding.depth > 8) size *= 2;
    size_t forever = SIZE_MAX;
    uint8_t *pixels = take_buffer(in, size), *back = make_buffer(size);
    cavif_failure failure = {0};
    cavif_encoder *encoder = cavif_encoder_new(encoding, &failure);
    bool is_added = encoder;
    for (int frame = 0; is_added && frame < frames; frame++)
        is_added = cavif_encoder_add(encoder, pixels, take_byte(in), &failure);
    const uint8_t *file = is_added ? cavif_encoder_finish(encoder, &count, &failure) : NULL;
    if (file && frames > 1) {
        double end = 0;
        cavif_sequence *sequence = cavif_open(
            file, count, MOST_PIXELS, MOST_FRAMES, (cavif_cancellation){counts_down, &forever}, &failure);
        REQUIRE(sequence);
        REQUIRE(cavif_next(sequence, encoding.width, encoding.height, encoding.channels, back, &end, &failure));
        REQUIRE(end > 0);
        cavif_close(sequence);
    }
    if (encoder) cavif_encoder_free(encoder);
    free(pixels);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count}, choices = take_choices(bytes, count);
    if (count < 12 || memcmp(bytes + 4, "ftyp", 4) != 0)
        encode(&in);
    else if (take_byte(&choices) & 1)
        sequence(&in, &choices);
    else
        still(&in, &choices);
    return 0;
}
