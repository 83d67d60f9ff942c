#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "CPalette.h"
#include "point.h"

/// Colours that count as one.
typedef struct {
    /// What they have in common: R, G, B and A from the lowest byte on.
    uint32_t key;
    uint32_t count;
    /// By how much they are above the key in all, channel by channel.
    int64_t rest[4];
} histogram_entry;

struct cpalette_histogram {
    size_t most, count;
    bool is_partly_clear;
    /// How many of a channel's lowest bits make no difference.
    int dropped;
    /// For each slot of a hash table the entry's number and 1, or 0; there are twice as many as entries, and they are a
    /// power of two.
    size_t slots;
    /// What keys are mixed with, so that no picture can be made of colours that all meet in one slot.
    uint64_t secret;
    /// How many slots were looked at.
    uint64_t probes;
    uint32_t *table;
    histogram_entry *entries;
};

/// The place of an entry's mean colour.
point histogram_place(const histogram_entry *entry);

#endif
