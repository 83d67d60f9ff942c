/// Writes a picture of samples of 8 or 16 bits into memory, strip by strip, with libtiff.
#ifndef CTIFF_WRITER_H
#define CTIFF_WRITER_H

#include "CTIFFReader.h"

/// The format of the picture.
typedef struct {
    uint32_t width, height;
    /// 1 for grey, 3 for RGB, 4 for RGBA with straight alpha.
    int channels;
    /// Bits a sample: 8 or 16, in the order of the machine.
    int bits;
    /// Rows in each strip except the last.
    uint32_t strip_rows;
    /// The compression by its TIFF number: 1 none, 5 LZW, 8 Deflate.
    int compression;
} ctiff_picture;

/// A file being written. Only one thread may use it at a time.
typedef struct ctiff_writer ctiff_writer;

/// Starts a file.
ctiff_writer *_Nullable ctiff_writer_new(ctiff_picture picture, ctiff_failure *_Nonnull failure);

/// Sets a tag to a zero-terminated text.
void ctiff_writer_set_text(ctiff_writer *_Nonnull writer, uint32_t tag, const char *_Nonnull text);

/// Sets a tag to bytes.
void ctiff_writer_set_bytes(
    ctiff_writer *_Nonnull writer, uint32_t tag, const uint8_t *_Nonnull bytes, size_t count);

/// Compresses the strip with this number, from 0. Strips are written in order.
bool ctiff_writer_add(
    ctiff_writer *_Nonnull writer, uint32_t strip, const uint8_t *_Nonnull pixels, size_t count,
    ctiff_failure *_Nonnull failure);

/// Finishes the file. Its bytes stay valid until `ctiff_writer_free`.
const uint8_t *_Nullable ctiff_writer_finish(
    ctiff_writer *_Nonnull writer, size_t *_Nonnull count, ctiff_failure *_Nonnull failure);

void ctiff_writer_free(ctiff_writer *_Nonnull writer);

#endif
