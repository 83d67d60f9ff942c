// TIFF: writes pixels strip by strip with libtiff, with any text and bytes in the encoder's tags, and checks that
// reading returns the same pixels.
#include "CTIFFWriter.h"
#include "input.h"

static bool never(const void *context) {
    (void)context;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    static const int channels[] = {1, 3, 4}, compressions[] = {1, 5, 8};
    static const uint32_t texts[] = {270, 271, 272, 306, 315, 33432};
    ctiff_picture picture = {
        .width = (uint32_t)take_number(&in, 1, 200),
        .height = (uint32_t)take_number(&in, 1, 60),
        .channels = channels[take_number(&in, 0, 2)],
        .compression = compressions[take_number(&in, 0, 2)],
    };
    picture.bits = take_byte(&in) & 1 ? 16 : 8;
    picture.strip_rows = (uint32_t)take_number(&in, 1, picture.height);
    size_t text_length = take_number(&in, 0, 40), profile_length = take_number(&in, 1, 300);
    uint32_t tag = texts[take_number(&in, 0, 5)];
    char *text = take_buffer(&in, text_length + 1);
    text[text_length] = 0;
    uint8_t *profile = take_buffer(&in, profile_length);
    size_t row = picture.width * (size_t)(picture.channels * picture.bits / 8), length = 0;
    uint8_t *pixels = take_buffer(&in, row * picture.height), *back = make_buffer(row * picture.height);

    ctiff_failure failure = {0};
    ctiff_writer *writer = ctiff_writer_new(picture, &failure);
    REQUIRE(writer);
    ctiff_writer_set_text(writer, tag, text);
    ctiff_writer_set_bytes(writer, 34675, profile, profile_length);
    for (uint32_t top = 0; top < picture.height; top += picture.strip_rows) {
        uint32_t rows = picture.height - top < picture.strip_rows ? picture.height - top : picture.strip_rows;
        uint8_t *strip = make_buffer(rows * row);
        memcpy(strip, pixels + top * row, rows * row);
        REQUIRE(ctiff_writer_add(writer, top / picture.strip_rows, strip, rows * row, &failure));
        REQUIRE(memcmp(strip, pixels + top * row, rows * row) == 0);
        free(strip);
    }
    const uint8_t *file = ctiff_writer_finish(writer, &length, &failure);
    REQUIRE(file);

    ctiff_header header;
    ctiff_cancellation cancellation = {never, &failure};
    ctiff_file *reader = ctiff_open(file, length, false, cancellation, &header, &failure);
    REQUIRE(reader && header.width == picture.width && header.height == picture.height);
    REQUIRE(header.channels == picture.channels && header.has_profile);
    REQUIRE(header.is_deep == (picture.bits == 16));
    REQUIRE(
        header.is_deep ? ctiff_read_deep_rows(reader, picture.height, (uint16_t *)back, &failure)
                       : ctiff_read_rows(reader, picture.height, back, &failure));
    REQUIRE(memcmp(back, pixels, row * picture.height) == 0);
    ctiff_close(reader), ctiff_writer_free(writer);
    free(text), free(profile), free(pixels), free(back);
    return 0;
}
