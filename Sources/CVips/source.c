#include "source.h"

#include <stdio.h>
#include <string.h>

static gint64 read_bytes(VipsSourceCustom *source, void *buffer, gint64 length, byte_source *state) {
    (void)source;
    // An interlaced PNG is read to its end before the first row, so it can only stop here.
    if (length < 0 || is_cancelled(state->cancellation)) return -1;
    size_t rest = state->count - state->position;
    size_t taken = (size_t)length < rest ? (size_t)length : rest;
    memcpy(buffer, state->bytes + state->position, taken);
    state->position += taken;
    return (gint64)taken;
}

static gint64 seek_bytes(VipsSourceCustom *source, gint64 offset, int whence, byte_source *state) {
    (void)source;
    gint64 count = (gint64)state->count;
    gint64 base = whence == SEEK_CUR ? (gint64)state->position : whence == SEEK_END ? count : 0;
    if (offset < -base || offset > count - base) return -1;
    state->position = (size_t)(base + offset);
    return base + offset;
}

VipsSourceCustom *make_source(byte_source *state) {
    VipsSourceCustom *source = vips.vips_source_custom_new();
    g_signal_connect_data(source, "read", G_CALLBACK(read_bytes), state, NULL, 0);
    g_signal_connect_data(source, "seek", G_CALLBACK(seek_bytes), state, NULL, 0);
    return source;
}
