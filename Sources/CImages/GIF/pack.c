#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "CGIF.h"

enum { NOTHING = -1, MOST_CODES = 4096, LONGEST_CODE = 12, SLOTS = 16384 };

static void write_block(cgif_packer *packer, uint8_t **output) {
    *(*output)++ = (uint8_t)packer->length;
    memcpy(*output, packer->block, (size_t)packer->length);
    *output += packer->length;
    packer->length = 0;
}

static void write_byte(cgif_packer *packer, uint8_t **output) {
    packer->block[packer->length++] = (uint8_t)packer->bits;
    packer->bits >>= 8;
    packer->count -= 8;
    if (packer->length == sizeof packer->block) write_block(packer, output);
}

static void write_code(cgif_packer *packer, int code, uint8_t **output) {
    packer->bits |= (uint32_t)code << packer->count;
    packer->count += packer->size;
    while (packer->count >= 8) write_byte(packer, output);
}

/// Counts a code. Readers learn it one code later, so codes only get longer then.
static void count_code(cgif_packer *packer) {
    packer->next++;
    if (packer->next > 1 << packer->size && packer->size < LONGEST_CODE) packer->size++;
}

static void clear(cgif_packer *packer, uint8_t **output) {
    write_code(packer, 1 << packer->minimum, output);
    packer->size = packer->minimum + 1;
    packer->next = (1 << packer->minimum) + 2;
    memset(packer->keys, 0, sizeof packer->keys);
}

void cgif_pack_start(cgif_packer *packer, int minimum) {
    // A secret factor, so that no picture can be crafted whose strings all collide.
    if (getentropy(&packer->factor, sizeof packer->factor) != 0)
        packer->factor = 0x9e3779b1u;
    packer->factor |= 1;
    packer->probes = 0;
    packer->bits = 0;
    packer->count = packer->length = 0;
    packer->minimum = minimum;
    packer->size = minimum + 1;
    packer->prefix = NOTHING;
}

size_t cgif_pack(cgif_packer *packer, const uint8_t *indices, size_t count, uint8_t *output) {
    uint8_t *end = output;
    for (size_t i = 0; i < count; i++) {
        if (packer->prefix == NOTHING) {
            clear(packer, &end);
            packer->prefix = indices[i];
            continue;
        }
        uint32_t key = ((uint32_t)packer->prefix << 8 | indices[i]) + 1;
        uint32_t slot = (key * packer->factor) >> 18;
        for (; packer->keys[slot] && packer->keys[slot] != key; packer->probes++) slot = (slot + 1) & (SLOTS - 1);
        if (packer->keys[slot]) {
            packer->prefix = packer->codes[slot];
            continue;
        }
        write_code(packer, packer->prefix, &end);
        packer->keys[slot] = key;
        packer->codes[slot] = (uint16_t)packer->next;
        count_code(packer);
        if (packer->next == MOST_CODES) clear(packer, &end);
        packer->prefix = indices[i];
    }
    return (size_t)(end - output);
}

size_t cgif_pack_end(cgif_packer *packer, uint8_t *output) {
    uint8_t *end = output;
    if (packer->prefix != NOTHING) {
        write_code(packer, packer->prefix, &end);
        count_code(packer);
    }
    write_code(packer, (1 << packer->minimum) + 1, &end);
    while (packer->count > 0) write_byte(packer, &end);
    if (packer->length > 0) write_block(packer, &end);
    // An empty block ends the data.
    *end++ = 0;
    return (size_t)(end - output);
}
