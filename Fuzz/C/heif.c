// HEIF: decodes any bits as the coded picture of a checked file, since libheif only gets such files.
#include "CHEIF.h"
#include "input.h"

// A file of one item at its end, and the offsets of that item's length.
#define MODEL "Tests/Images/good/heic-128.heif"
enum { HEADER = 357, ITEM_LENGTH = 117, BOX_LENGTH = 349, SIDE = 128 };

static uint8_t header[HEADER];

int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count, (void)arguments;
    FILE *model = fopen(MODEL, "rb");
    REQUIRE(model && fread(header, 1, HEADER, model) == HEADER);
    fclose(model);
    return 0;
}

static void put(uint8_t *place, size_t number) {
    for (int byte = 0; byte < 4; byte++) place[byte] = (uint8_t)(number >> (24 - 8 * byte));
}

int LLVMFuzzerTestOneInput(const uint8_t *bits, size_t count) {
    uint8_t *file = make_buffer(HEADER + count);
    memcpy(file, header, HEADER);
    if (count) memcpy(file + HEADER, bits, count);
    put(file + ITEM_LENGTH, count);
    put(file + BOX_LENGTH, 8 + count);
    cheif_failure failure = {0};
    bool is_deep = count & 1;
    cheif_picture *picture = cheif_decode(file, HEADER + count, is_deep, &failure);
    free(file);
    REQUIRE(memchr(failure.message, 0, sizeof failure.message));
    REQUIRE((picture == NULL) == (failure.message[0] != 0));
    if (!picture) return 0;
    REQUIRE(cheif_width(picture) == SIDE && cheif_height(picture) == SIDE);
    static volatile uint8_t sum;
    (void)sum;
    for (int row = 0; row < SIDE; row++)
        for (int byte = 0; byte < 3 * SIDE * (is_deep ? 2 : 1); byte++) sum += cheif_row(picture, row)[byte];
    cheif_free(picture);
    return 0;
}
