#include "CTIFF.h"

#include <string.h>
#include <sys/random.h>

enum { CLEAR = 256, END = 257, FIRST = 258, LAST = 4093, NARROWEST = 9, EMPTY = 0xff };

static uint8_t *put(ctiff_lzw *lzw, uint32_t code, uint8_t *out) {
    lzw->bits = lzw->bits << lzw->width | code;
    lzw->bit_count += lzw->width;
    while (lzw->bit_count >= 8) {
        lzw->bit_count -= 8;
        *out++ = (uint8_t)(lzw->bits >> lzw->bit_count);
    }
    return out;
}

static void forget(ctiff_lzw *lzw) {
    memset(lzw->slots, EMPTY, sizeof lzw->slots);
    lzw->next = FIRST;
    lzw->width = NARROWEST;
}

/// Counts a string that was added to the table. A full table starts over; codes become wider one string sooner than they
/// would have to, as this format wants it.
static uint8_t *count_string(ctiff_lzw *lzw, uint8_t *out) {
    if (lzw->next == LAST) {
        out = put(lzw, CLEAR, out);
        forget(lzw);
    } else if (++lzw->next == 1u << lzw->width) {
        lzw->width++;
    }
    return out;
}

size_t ctiff_lzw_bound(size_t count) {
    // Every byte a code of 12 bits, and a code of 12 bits for each time that the table is full.
    return (count + count / (LAST - FIRST) + 4) * 3 / 2 + 8;
}

void ctiff_lzw_begin(ctiff_lzw *lzw) {
    forget(lzw);
    lzw->prefix = -1;
    // A factor that nobody knows: no picture can be made of strings that all meet in one place.
    if (getrandom(&lzw->factor, sizeof lzw->factor, GRND_NONBLOCK) != sizeof lzw->factor) lzw->factor = 2654435761u;
    lzw->factor |= 1;
    lzw->bits = lzw->bit_count = 0;
    lzw->probes = 0;
}

size_t ctiff_lzw_pack(ctiff_lzw *lzw, const uint8_t *bytes, size_t count, uint8_t *out) {
    uint8_t *start = out;
    size_t index = 0;
    if (lzw->prefix < 0 && count > 0) {
        out = put(lzw, CLEAR, out);
        lzw->prefix = bytes[index++];
    }
    uint32_t prefix = (uint32_t)lzw->prefix;
    for (; index < count; index++) {
        uint32_t string = prefix << 8 | bytes[index];
        uint32_t slot = string * lzw->factor >> 19;
        for (; lzw->slots[slot] >> 12 != string && lzw->slots[slot] != UINT32_MAX; lzw->probes++)
            slot = (slot + 1) % CTIFF_LZW_SLOTS;
        if (lzw->slots[slot] != UINT32_MAX) {
            prefix = lzw->slots[slot] & 0xfff;
            continue;
        }
        out = put(lzw, prefix, out);
        lzw->slots[slot] = string << 12 | lzw->next;
        out = count_string(lzw, out);
        prefix = bytes[index];
    }
    lzw->prefix = count > 0 ? (int32_t)prefix : lzw->prefix;
    return (size_t)(out - start);
}

size_t ctiff_lzw_end(ctiff_lzw *lzw, uint8_t *out) {
    uint8_t *start = out;
    if (lzw->prefix >= 0) {
        out = put(lzw, (uint32_t)lzw->prefix, out);
        // Who reads it adds a string for this code too.
        out = count_string(lzw, out);
    }
    out = put(lzw, END, out);
    if (lzw->bit_count > 0) *out++ = (uint8_t)(lzw->bits << (8 - lzw->bit_count));
    return (size_t)(out - start);
}
