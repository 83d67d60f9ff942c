#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "CPalette.h"
#include "point.h"

/// Colours that count as one.
typedef struct {
    /// Their common bits: R, G, B and A from the lowest byte on.
    uint32_t key;
    uint32_t count;
    /// The sum of their differences from the key, channel by channel.
    int64_t rest[4];
} histogram_entry;

struct cpalette_histogram {
    size_t most, count;
    bool is_partly_clear;
    /// How many of a channel's lowest bits are ignored.
    int dropped;
    /// The hash table holds the index of an entry plus 1 in each slot, or 0. The number of slots is a power of two, at
    /// least twice that of entries.
    size_t slots;
    /// Mixed into keys, so that no picture can be crafted whose colours all collide.
    uint64_t secret;
    /// How many slots were probed.
    uint64_t probes;
    uint32_t *table;
    histogram_entry *entries;
};

/// The point of an entry's mean colour.
point histogram_place(const histogram_entry *entry);

#endif
