// TIFF: reads the rows of any file with libtiff, cancelled at any of them. Rows have to be the same however many are
// read at a time, every byte has to be written, and reading may allocate no more memory than the header says.
#define _GNU_SOURCE
#include "CTIFFReader.h"
#include "input.h"
#include "memory.h"

enum {
    MOST_PIXELS = 1 << 20,
    MOST_MEMORY = 1 << 23,
    /// For a strip longer than the file, libtiff allocates 1 MB, then 10 MB more, of which no byte is touched.
    OTHER_MEMORY = 16 << 20,
};

typedef struct {
    uint8_t *bytes;
    size_t count;
} picture;

/// Reads all rows, some at a time, into buffers filled with a byte.
static bool read_rows(ctiff_file *file, ctiff_header header, uint32_t piece, int fill, uint8_t *pixels) {
    size_t length = (size_t)header.width * (size_t)header.channels;
    for (uint32_t top = 0; top < header.height; top += piece) {
        uint32_t count = header.height - top < piece ? header.height - top : piece;
        uint8_t *rows = make_buffer(length * count);
        memset(rows, fill, length * count);
        ctiff_failure failure = {0};
        bool is_read = ctiff_read_rows(file, count, rows, &failure);
        REQUIRE(is_read || memchr(failure.message, 0, sizeof failure.message));
        if (is_read) memcpy(pixels + top * length, rows, length * count);
        free(rows);
        if (!is_read) return false;
    }
    return true;
}

/// Whether the file may use LZMA or Zstandard, which state a window size. Address space is reserved for the whole
/// window, but only used memory is touched.
static bool names_its_window(const uint8_t *bytes, size_t count) {
    static const char xz[] = {'\xfd', '7', 'z', 'X', 'Z'}, zstandard[] = {'\x28', '\xb5', '\x2f', '\xfd'};
    return memmem(bytes, count, xz, sizeof xz) || memmem(bytes, count, zstandard, sizeof zstandard);
}

/// Reads the rows of a region, starting with the row that `ctiff_begin` returns.
static void read_part(
    const uint8_t *bytes, size_t count, bool allow_damage, size_t patience, uint32_t left, uint32_t top) {
    ctiff_header header;
    ctiff_failure failure = {0};
    ctiff_file *file =
        ctiff_open(bytes, count, allow_damage, (ctiff_cancellation){counts_down, &patience}, &header, &failure);
    if (!file) return;
    bool is_small = (uint64_t)header.width * header.height <= MOST_PIXELS && header.memory <= MOST_MEMORY;
    if (is_small && left < header.width && top < header.height) {
        int64_t first = ctiff_begin(file, top, left, left + 1, &failure);
        REQUIRE(first <= top);
        size_t length = (size_t)header.width * (size_t)header.channels;
        for (uint32_t row = (uint32_t)first; first >= 0 && row <= top; row++) {
            uint8_t *pixels = make_buffer(header.is_deep ? 2 * length : length);
            if (!(header.is_deep ? ctiff_read_deep_rows(file, 1, (uint16_t *)pixels, &failure)
                                 : ctiff_read_rows(file, 1, pixels, &failure)))
                first = -1;
            free(pixels);
        }
    }
    ctiff_close(file);
}

/// Returns the pixels of a file; none if it can't be read to its end.
static picture decode(const uint8_t *bytes, size_t count, bool allow_damage, size_t patience, uint32_t piece, int fill) {
    picture result = {0};
    ctiff_header header;
    ctiff_failure failure = {0};
    start_counting();
    ctiff_file *file =
        ctiff_open(bytes, count, allow_damage, (ctiff_cancellation){counts_down, &patience}, &header, &failure);
    REQUIRE(memchr(failure.message, 0, sizeof failure.message));
    if (!file) return result;
    REQUIRE(header.width > 0 && header.height > 0 && header.orientation >= 1 && header.orientation <= 8);
    REQUIRE(header.channels == 1 || header.channels == 3 || header.channels == 4);
    size_t profile = 0;
    REQUIRE(!header.has_profile || (ctiff_profile(file, &profile) && profile > 0));
    if ((uint64_t)header.width * header.height <= MOST_PIXELS && header.memory <= MOST_MEMORY) {
        result.count = (size_t)header.width * header.height * (size_t)header.channels;
        result.bytes = make_buffer(result.count);
        if (!read_rows(file, header, piece, fill, result.bytes)) {
            free(result.bytes);
            result.bytes = NULL;
        }
        REQUIRE(
            counted_most <= header.memory + 2 * result.count + OTHER_MEMORY || names_its_window(bytes, count));
    }
    ctiff_close(file);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input choices = take_choices(bytes, count);
    size_t patience = take_byte(&choices) % 4 ? SIZE_MAX : take_number(&choices, 1, 400);
    uint32_t piece = (uint32_t)take_number(&choices, 1, 40);
    bool allow_damage = take_byte(&choices) & 1;
    uint8_t *file = make_buffer(count);
    memcpy(file, bytes, count);
    picture first = decode(file, count, allow_damage, patience, piece, 0);
    if (first.bytes) {
        picture second = decode(file, count, allow_damage, SIZE_MAX, 1, 255);
        REQUIRE(second.bytes && memcmp(first.bytes, second.bytes, first.count) == 0);
        free(second.bytes);
    }
    free(first.bytes);
    read_part(file, count, allow_damage, patience, piece * piece % 300, piece * 9 % 200);
    free(file);
    return 0;
}
