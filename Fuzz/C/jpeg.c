// JPEG: decodes any file at any scale, with its metadata, cancelled at any row; and encodes pictures.
#include "CJPEG.h"
#include "input.h"

static void decode(input *in, input choices) {
    size_t patience = take_byte(&choices) % 4 ? SIZE_MAX : take_number(&choices, 1, 400);
    int eighths = (int)take_number(&choices, 1, 8), rows = (int)take_number(&choices, 1, 40);
    bool allow_damage = take_byte(&choices) & 1;
    int part = (int)take_number(&choices, 0, 1 << 16);
    uint8_t *file = make_buffer(in->left);
    memcpy(file, in->bytes, in->left);
    cjpeg_header header;
    cjpeg_failure failure = {0};
    cjpeg_file *jpeg =
        cjpeg_open(file, in->left, allow_damage, (cjpeg_cancellation){counts_down, &patience}, &header, &failure);
    if (jpeg) {
        REQUIRE(header.width > 0 && header.height > 0);
        size_t size = 0;
        const uint8_t *exif = cjpeg_exif(jpeg, &size);
        if (exif) REQUIRE(memcmp(exif, "Exif", 4) == 0 && size >= 6);
        free(cjpeg_profile(jpeg, &size));
        int width = 0, height = 0;
        bool is_small = (size_t)header.width * (size_t)header.height < 1u << 20 && header.memory < 1u << 24;
        if (is_small && cjpeg_start(jpeg, eighths, &width, &height, &failure)) {
            int left = part % width, top = part / 7 % height, columns = 1 + part % (width - left);
            if (part > 0) {
                if (!cjpeg_narrow(jpeg, &left, &top, &columns, &failure)) rows = 0;
                REQUIRE(left >= 0 && columns > 0 && columns <= width);
                width = columns;
            }
            size_t length = (size_t)width * (size_t)header.channels;
            for (int given = rows; given > 0;) {
                uint8_t *pixels = make_buffer(length * (size_t)rows);
                given = cjpeg_read(jpeg, pixels, rows, &failure);
                REQUIRE(given <= rows);
                free(pixels);
            }
        }
        cjpeg_close(jpeg);
    }
    REQUIRE(memchr(failure.message, 0, sizeof failure.message));
    free(file);
}

static void encode(input *in) {
    static const int channels[] = {1, 3, 4};
    cjpeg_picture picture = {
        .width = (int)take_number(in, 1, 90), .height = (int)take_number(in, 1, 60), .channels = channels[take_byte(in) % 3]};
    cjpeg_encoding encoding = {
        .quality = (int)take_number(in, 1, 100), .progressive = take_byte(in) & 1, .optimized = take_byte(in) & 1,
        .horizontal = (int)take_number(in, 1, 2), .vertical = (int)take_number(in, 1, 2)};
    size_t patience = take_byte(in) % 4 ? SIZE_MAX : take_number(in, 1, 60), count = 0;
    size_t block = take_number(in, 0, 65535);
    encoding.exif = (cjpeg_block){take_buffer(in, block), block};
    encoding.profile = encoding.exif;
    picture.pixels = take_buffer(in, (size_t)picture.width * (size_t)picture.height * (size_t)picture.channels);
    cjpeg_failure failure = {0};
    uint8_t *file = cjpeg_encode(picture, encoding, (cjpeg_cancellation){counts_down, &patience}, &count, &failure);
    if (file) {
        size_t forever = SIZE_MAX;
        cjpeg_header header;
        cjpeg_file *jpeg =
            cjpeg_open(file, count, false, (cjpeg_cancellation){counts_down, &forever}, &header, &failure);
        REQUIRE(jpeg && header.width == picture.width && header.height == picture.height);
        cjpeg_close(jpeg);
    }
    free(file);
    free((void *)encoding.exif.bytes), free((void *)picture.pixels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    if (count > 1 && bytes[0] == 0xff && bytes[1] == 0xd8)
        decode(&in, take_choices(bytes, count));
    else
        encode(&in);
    return 0;
}
