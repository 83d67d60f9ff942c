/// The inner loop of a TIFF encoder: LZW (TIFF 6.0 section 13). What reads TIFF has a header of its own.
#ifndef CTIFF_H
#define CTIFF_H

#include <stddef.h>
#include <stdint.h>

#include "CTIFFReader.h"

#define CTIFF_LZW_SLOTS 8192

/// What was seen of a strip's bytes so far. One thread at a time.
typedef struct {
    /// For each string of the table: the code of all but its last byte, that byte, and its own code.
    uint32_t slots[CTIFF_LZW_SLOTS];
    /// The code that the next string gets, and how many bits a code has now.
    uint32_t next, width;
    /// The code of the string that may still become longer; negative before the first byte.
    int32_t prefix;
    /// What spreads the strings over the table.
    uint32_t factor;
    /// How many slots were found taken by other strings.
    uint64_t probes;
    /// Bits that don't fill a byte yet.
    uint32_t bits, bit_count;
} ctiff_lzw;

/// The most bytes that packing a number of bytes makes, with the end.
size_t ctiff_lzw_bound(size_t count);

/// Begins a strip.
void ctiff_lzw_begin(ctiff_lzw *_Nonnull lzw);

/// Packs bytes that follow those before; gives how many were written.
size_t ctiff_lzw_pack(
    ctiff_lzw *_Nonnull lzw, const uint8_t *_Nonnull bytes, size_t count, uint8_t *_Nonnull out);

/// Ends the strip; gives how many bytes were written.
size_t ctiff_lzw_end(ctiff_lzw *_Nonnull lzw, uint8_t *_Nonnull out);

#endif
