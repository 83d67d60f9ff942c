#include "CGIF.h"

enum { NOTHING = -1, MOST_CODES = 4096, LONGEST_CODE = 12 };

static void clear(cgif_lzw *lzw) {
    lzw->size = lzw->minimum + 1;
    lzw->next = lzw->clear + 2;
    lzw->previous = NOTHING;
}

void cgif_start(cgif_lzw *lzw, int minimum) {
    lzw->bits = 0;
    lzw->count = 0;
    lzw->minimum = minimum;
    lzw->clear = 1 << minimum;
    for (int i = 0; i < lzw->clear; i++) {
        lzw->length[i] = 1;
        lzw->first[i] = lzw->suffix[i] = (uint8_t)i;
    }
    clear(lzw);
}

/// Adds the next code: the previous string and a byte.
static void learn(cgif_lzw *lzw, uint8_t byte) {
    if (lzw->next >= MOST_CODES) return;
    int previous = lzw->previous;
    lzw->prefix[lzw->next] = (uint16_t)previous;
    lzw->suffix[lzw->next] = byte;
    lzw->first[lzw->next] = lzw->first[previous];
    lzw->length[lzw->next] = (uint16_t)(lzw->length[previous] + 1);
    lzw->next++;
    if (lzw->next == 1 << lzw->size && lzw->size < LONGEST_CODE) lzw->size++;
}

cgif_state cgif_decompress(
    cgif_lzw *lzw, const uint8_t *input, size_t count, size_t *taken, uint8_t *output, size_t *given, size_t limit) {
    while (*given < limit) {
        while (lzw->count < lzw->size) {
            if (*taken == count) return CGIF_NEEDS_INPUT;
            lzw->bits |= (uint32_t)input[(*taken)++] << lzw->count;
            lzw->count += 8;
        }
        int code = (int)(lzw->bits & ((1u << lzw->size) - 1));
        lzw->bits >>= lzw->size;
        lzw->count -= lzw->size;
        if (code == lzw->clear) {
            clear(lzw);
            continue;
        }
        if (code == lzw->clear + 1) return CGIF_ENDS;
        if (lzw->previous == NOTHING) {
            if (code > lzw->clear) return CGIF_IS_DAMAGED;
        } else {
            // The code that is just being added stands for the previous string and its own first byte.
            if (code > lzw->next || (code == lzw->next && lzw->next >= MOST_CODES)) return CGIF_IS_DAMAGED;
            learn(lzw, lzw->first[code == lzw->next ? lzw->previous : code]);
        }
        size_t length = lzw->length[code];
        uint8_t *end = output + *given + length - 1;
        int part = code;
        while (part > lzw->clear) {
            *end-- = lzw->suffix[part];
            part = lzw->prefix[part];
        }
        *end = (uint8_t)part;
        *given += length;
        lzw->previous = code;
    }
    return CGIF_IS_FULL;
}
