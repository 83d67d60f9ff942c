/// Bytes in memory that libvips reads until the work is cancelled.
#ifndef SOURCE_H
#define SOURCE_H

#include "library.h"

typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t position;
    cvips_cancellation cancellation;
} byte_source;

/// A source for libvips' loaders; `state` has to outlive it.
VipsSourceCustom *make_source(byte_source *state);

#endif
