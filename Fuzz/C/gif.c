// GIF: decompresses any bytes, compresses and decompresses indices, and draws, compares and shows rows.
#include "CGIF.h"
#include "input.h"

/// Decompresses any bytes in sub-blocks of any length, as the decoder does.
static void decompress(input *in) {
    cgif_lzw *lzw = make_buffer(sizeof *lzw);
    cgif_start(lzw, (int)take_number(in, 0, 11));
    size_t limit = take_number(in, 1, 20000), given = 0;
    uint8_t *output = make_buffer(limit + CGIF_SLACK);
    while (in->left > 0) {
        size_t length = 1 + take_byte(in) % 255;
        if (length > in->left) length = in->left;
        uint8_t *block = make_buffer(length);
        memcpy(block, in->bytes, length);
        in->bytes += length;
        in->left -= length;
        size_t taken = 0;
        cgif_state state = cgif_decompress(lzw, block, length, &taken, output, &given, limit);
        REQUIRE(taken <= length && given < limit + CGIF_SLACK);
        free(block);
        if (state == CGIF_IS_FULL) given = 0;
        if (state == CGIF_ENDS || state == CGIF_IS_DAMAGED) break;
    }
    free(output);
    free(lzw);
}

/// Joins the bytes of the sub-blocks, without their lengths.
static size_t join_blocks(uint8_t *bytes, size_t count) {
    size_t joined = 0, position = 0;
    while (position < count && bytes[position] > 0) {
        size_t length = bytes[position];
        REQUIRE(position + 1 + length <= count);
        memmove(bytes + joined, bytes + position + 1, length);
        joined += length;
        position += 1 + length;
    }
    REQUIRE(position + 1 == count);
    return joined;
}

/// Compresses indices in pieces and decompresses them again.
static void round_trip(input *in) {
    int minimum = (int)take_number(in, 2, 8);
    size_t count = take_number(in, 0, 9000), piece = take_number(in, 1, 4000);
    uint8_t *indices = take_buffer(in, count);
    for (size_t i = 0; i < count; i++) indices[i] &= (uint8_t)((1 << minimum) - 1);
    cgif_packer *packer = make_buffer(sizeof *packer);
    cgif_pack_start(packer, minimum);
    uint8_t *file = make_buffer(0);
    size_t length = 0;
    for (size_t start = 0; start <= count; start += piece) {
        bool is_last = start + piece > count;
        size_t size = is_last ? count - start : piece;
        uint8_t *output = make_buffer(cgif_pack_limit(size));
        size_t written = cgif_pack(packer, indices + start, size, output);
        REQUIRE(written <= cgif_pack_limit(size));
        file = realloc(file, length + written + cgif_pack_limit(0));
        memcpy(file + length, output, written);
        length += written;
        free(output);
    }
    length += cgif_pack_end(packer, file + length);
    size_t joined = join_blocks(file, length);
    cgif_lzw *lzw = make_buffer(sizeof *lzw);
    cgif_start(lzw, minimum);
    uint8_t *back = make_buffer(count + 1 + CGIF_SLACK);
    size_t taken = 0, given = 0;
    cgif_state state = cgif_decompress(lzw, file, joined, &taken, back, &given, count + 1);
    REQUIRE(state == CGIF_ENDS && given == count && memcmp(back, indices, count) == 0);
    free(back), free(lzw), free(file), free(packer), free(indices);
}

/// Draws, compares and shows rows.
static void rows(input *in) {
    size_t count = take_number(in, 0, 700);
    int channels = take_byte(in) & 1 ? 3 : 4, threshold = take_byte(in);
    int transparent = (int)take_number(in, 0, 256) - 1;
    uint8_t *palette = take_buffer(in, 1024), *indices = take_buffer(in, count);
    uint8_t *pixels = take_buffer(in, count * (size_t)channels), *before = take_buffer(in, count * (size_t)channels);
    uint8_t *shown = take_buffer(in, count * 4), *same = make_buffer(count);
    cgif_draw(indices, count, palette, transparent, pixels, channels);
    cgif_compare(pixels, before, count, channels, threshold, shown, same);
    for (size_t i = 0; i < count; i++) REQUIRE(same[i] <= 1);
    cgif_span span = cgif_uncovered(pixels, count, channels, threshold, shown);
    REQUIRE(span.end <= count && span.start <= count);
    span = cgif_show(indices, count, palette, transparent < 0 ? 255 : transparent, shown);
    REQUIRE(span.end <= count && span.start <= count);
    free(palette), free(indices), free(pixels), free(before), free(shown), free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    switch (take_byte(&in) % 3) {
    case 0: decompress(&in); break;
    case 1: round_trip(&in); break;
    default: rows(&in);
    }
    return 0;
}
