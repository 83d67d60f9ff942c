/// What this package asks of libtiff to write a picture of 8-bit samples, strip by strip, into memory.
#ifndef CTIFF_WRITER_H
#define CTIFF_WRITER_H

#include "CTIFFReader.h"

/// What the tags say of the pixels.
typedef struct {
    uint32_t width, height;
    /// 1 grey, 3 RGB, 4 RGBA with straight alpha.
    int channels;
    /// Rows in each strip but the last.
    uint32_t strip_rows;
    /// Compression by its number in TIFF 6.0: 1 none, 5 LZW, 8 Deflate.
    int compression;
} ctiff_picture;

/// A file that is being written. One thread at a time.
typedef struct ctiff_writer ctiff_writer;

/// Begins a file.
ctiff_writer *_Nullable ctiff_writer_new(ctiff_picture picture, ctiff_failure *_Nonnull failure);

/// Sets a tag to a text that ends with a zero.
void ctiff_writer_set_text(ctiff_writer *_Nonnull writer, uint32_t tag, const char *_Nonnull text);

/// Sets a tag to bytes.
void ctiff_writer_set_bytes(
    ctiff_writer *_Nonnull writer, uint32_t tag, const uint8_t *_Nonnull bytes, size_t count);

/// Compresses the strip with this number, from 0. Strips are written in order.
bool ctiff_writer_add(
    ctiff_writer *_Nonnull writer, uint32_t strip, const uint8_t *_Nonnull pixels, size_t count,
    ctiff_failure *_Nonnull failure);

/// Ends the file. Its bytes stay until `ctiff_writer_free`.
const uint8_t *_Nullable ctiff_writer_finish(
    ctiff_writer *_Nonnull writer, size_t *_Nonnull count, ctiff_failure *_Nonnull failure);

void ctiff_writer_free(ctiff_writer *_Nonnull writer);

#endif
