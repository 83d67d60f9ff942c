/// The bytes of one run, taken from the front. Every buffer that a harness hands to the code under test has exactly the
/// size that its contract asks for, so that AddressSanitizer sees the first byte too many.
#ifndef INPUT_H
#define INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *bytes;
    size_t left;
} input;

/// The next byte, or 0 when none is left.
static inline uint8_t take_byte(input *in) {
    if (in->left == 0) return 0;
    in->left--;
    return *in->bytes++;
}

/// A number from `low` to `high`, both included.
static inline size_t take_number(input *in, size_t low, size_t high) {
    size_t number = take_byte(in) | (size_t)take_byte(in) << 8;
    return low + number % (high - low + 1);
}

/// A buffer of exactly `size` zeros; at least one byte, so that it is never NULL.
static inline void *make_buffer(size_t size) {
    void *buffer = calloc(size ? size : 1, 1);
    if (!buffer) abort();
    return buffer;
}

/// A buffer of exactly `size` bytes: those of the input, and a repeating pattern of them when it is too short.
static inline void *take_buffer(input *in, size_t size) {
    uint8_t *buffer = make_buffer(size);
    for (size_t i = 0; i < size; i++) buffer[i] = in->left ? take_byte(in) : i ? buffer[i / 2] : 0;
    return buffer;
}

/// The choices for a file, taken from its last bytes, so that any unchanged file of the format is a seed.
static inline input take_choices(const uint8_t *bytes, size_t count) {
    size_t tail = count < 8 ? count : 8;
    return (input){bytes + count - tail, tail};
}

/// Cancels from the n-th call on; `context` points to n, a `size_t`.
static inline bool counts_down(const void *context) {
    size_t *left = (size_t *)(uintptr_t)context;
    if (*left > 0) (*left)--;
    return *left == 0;
}

/// Ends the run as a finding unless `condition` is true.
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/// The target. Each harness defines it.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

#endif
