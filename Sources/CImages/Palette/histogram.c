#include "histogram.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

cpalette_histogram *cpalette_histogram_new(size_t most) {
    cpalette_histogram *histogram = calloc(1, sizeof *histogram);
    if (!histogram) return NULL;
    histogram->most = most;
    // Without a random number from the system, an address is hard enough to guess.
    if (getentropy(&histogram->secret, sizeof histogram->secret) != 0)
        histogram->secret = (uint64_t)(uintptr_t)histogram;
    histogram->slots = 2;
    while (histogram->slots < 2 * most) histogram->slots *= 2;
    histogram->table = calloc(histogram->slots, sizeof *histogram->table);
    histogram->entries = malloc(most * sizeof *histogram->entries);
    if (histogram->table && histogram->entries) return histogram;
    cpalette_histogram_free(histogram);
    return NULL;
}

void cpalette_histogram_free(cpalette_histogram *histogram) {
    if (!histogram) return;
    free(histogram->table);
    free(histogram->entries);
    free(histogram);
}

uint64_t cpalette_histogram_probes(const cpalette_histogram *histogram) { return histogram->probes; }

size_t cpalette_histogram_count(const cpalette_histogram *histogram) { return histogram->count; }

bool cpalette_histogram_is_partly_clear(const cpalette_histogram *histogram) { return histogram->is_partly_clear; }

/// The key that a colour shares with similar ones. Opaque colours never share one with translucent ones.
static uint32_t key_of(uint32_t colour, int dropped) {
    if (!dropped) return colour;
    uint32_t kept = 0xffu >> dropped << dropped;
    uint32_t alpha = colour >> 24 == 255 ? 255 : colour >> 24 & kept;
    return (colour & kept * 0x010101u) | alpha << 24;
}

/// Mixes all bits of a number (the finalizer of MurmurHash3).
static uint64_t mixed(uint64_t number) {
    number = (number ^ number >> 33) * 0xff51afd7ed558ccdu;
    number = (number ^ number >> 33) * 0xc4ceb9fe1a85ec53u;
    return number ^ number >> 33;
}

/// Returns the entry of a key, which it adds if missing; NULL if the histogram is full.
static histogram_entry *entry_of(cpalette_histogram *histogram, uint32_t key) {
    uint64_t hash = mixed(key ^ histogram->secret);
    size_t slot = hash & (histogram->slots - 1);
    // An odd step visits every slot, and differs for most keys that share a slot.
    size_t step = hash >> 32 | 1;
    for (histogram->probes++; histogram->table[slot]; histogram->probes++) {
        histogram_entry *entry = &histogram->entries[histogram->table[slot] - 1];
        if (entry->key == key) return entry;
        slot = (slot + step) & (histogram->slots - 1);
    }
    if (histogram->count == histogram->most) return NULL;
    histogram_entry *entry = &histogram->entries[histogram->count];
    *entry = (histogram_entry){.key = key};
    histogram->table[slot] = (uint32_t)++histogram->count;
    return entry;
}

static void add_rest(histogram_entry *entry, uint32_t colour, int64_t times) {
    for (int c = 0; c < 4; c++)
        entry->rest[c] += times * ((int64_t)(colour >> 8 * c & 255) - (int64_t)(entry->key >> 8 * c & 255));
}

/// Drops a bit of all channels, and merges entries that become equal.
static void coarsen(cpalette_histogram *histogram) {
    size_t count = histogram->count;
    histogram->dropped++;
    histogram->count = 0;
    memset(histogram->table, 0, histogram->slots * sizeof *histogram->table);
    for (size_t i = 0; i < count; i++) {
        histogram_entry old = histogram->entries[i];
        // There is space, as no more entries are added than were removed.
        histogram_entry *entry = entry_of(histogram, key_of(old.key, histogram->dropped));
        add_rest(entry, old.key, old.count);
        for (int c = 0; c < 4; c++) entry->rest[c] += old.rest[c];
        entry->count += old.count;
    }
}

static void add(cpalette_histogram *histogram, uint32_t colour, uint32_t times) {
    if (colour >> 24 == 0) {
        histogram->is_partly_clear = true;
        return;
    }
    histogram_entry *entry;
    while (!(entry = entry_of(histogram, key_of(colour, histogram->dropped)))) coarsen(histogram);
    entry->count += times;
    if (histogram->dropped) add_rest(entry, colour, times);
}

/// Returns a pixel's colour; 0 if it is transparent.
static uint32_t colour_of(const uint8_t *pixel, cpalette_format format) {
    if (format.channels == 1) return pixel[0] * 0x010101u | 0xff000000u;
    if (is_clear(pixel, format)) return 0;
    uint32_t alpha = format.channels == 4 && !format.threshold ? pixel[3] : 255;
    return pixel[0] | (uint32_t)pixel[1] << 8 | (uint32_t)pixel[2] << 16 | alpha << 24;
}

void cpalette_histogram_add(
    cpalette_histogram *histogram, const uint8_t *pixels, const uint8_t *left_out, size_t count,
    cpalette_format format) {
    // Consecutive pixels of one colour are counted together.
    uint32_t last = 0, times = 0;
    for (size_t i = 0; i < count; i++, pixels += format.channels) {
        if (left_out && left_out[i]) continue;
        uint32_t colour = colour_of(pixels, format);
        if (colour != last || times == 0) {
            if (times > 0) add(histogram, last, times);
            last = colour;
            times = 0;
        }
        times++;
    }
    if (times > 0) add(histogram, last, times);
}

point histogram_place(const histogram_entry *entry) {
    uint8_t colour[4];
    for (int c = 0; c < 4; c++) {
        float rest = (float)entry->rest[c] / (float)entry->count;
        colour[c] = byte_of((float)(entry->key >> 8 * c & 255) + rest);
    }
    return point_of(colour[0], colour[1], colour[2], colour[3]);
}
