// TIFF: LZW written in pieces is what a plain reader of TIFF 6.0 section 13 gives back.
#include "CTIFF.h"
#include "input.h"

enum { CLEAR = 256, END = 257 };

/// Reads a strip by the book: a table of strings, each one a prefix and a last byte.
static size_t unpack(const uint8_t *bytes, size_t count, uint8_t *out, size_t room) {
    static uint16_t prefix[4096], length[4096];
    static uint8_t last[4096];
    uint32_t bits = 0, available = 0, width = 9, next = 258;
    int previous = -1;
    size_t position = 0, given = 0;
    for (int i = 0; i < 256; i++) length[i] = 1, last[i] = (uint8_t)i;
    for (;;) {
        while (available < width) {
            REQUIRE(position < count);
            bits = bits << 8 | bytes[position++];
            available += 8;
        }
        uint32_t code = bits >> (available - width) & ((1u << width) - 1);
        available -= width;
        if (code == END) break;
        if (code == CLEAR) {
            width = 9, next = 258, previous = -1;
            continue;
        }
        REQUIRE(previous >= 0 ? code <= next : code < 256);
        uint32_t known = previous >= 0 && code == next ? (uint32_t)previous : code;
        uint32_t first = known;
        while (first >= 258) first = prefix[first];
        if (previous >= 0) {
            REQUIRE(next < 4096);
            prefix[next] = (uint16_t)previous, last[next] = (uint8_t)first;
            length[next] = (uint16_t)(length[previous] + 1);
            next++;
            if (next == (1u << width) - 1 && width < 12) width++;
        }
        REQUIRE(given + length[code] <= room);
        uint8_t *end = out + given + length[code];
        for (uint32_t part = code;; part = prefix[part]) {
            *--end = last[part];
            if (part < 256) break;
        }
        given += length[code];
        previous = (int)code;
    }
    REQUIRE(position == count);
    return given;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    size_t size = take_number(&in, 0, 12000), piece = take_number(&in, 1, 5000), length = 0;
    uint8_t *plain = take_buffer(&in, size), *strip = make_buffer(ctiff_lzw_bound(size));
    ctiff_lzw *lzw = make_buffer(sizeof *lzw);
    ctiff_lzw_begin(lzw);
    for (size_t start = 0; start < size; start += piece)
        length += ctiff_lzw_pack(lzw, plain + start, size - start < piece ? size - start : piece, strip + length);
    length += ctiff_lzw_end(lzw, strip + length);
    REQUIRE(length <= ctiff_lzw_bound(size));
    uint8_t *back = make_buffer(size);
    REQUIRE(unpack(strip, length, back, size) == size && memcmp(back, plain, size) == 0);
    free(plain), free(strip), free(lzw), free(back);
    return 0;
}
