#include "CTIFFWriter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct ctiff_writer {
    TIFF *handle;
    ctiff_failure failure;
    uint8_t *bytes;
    size_t count, capacity, position;
};

static int ignore_warning(TIFF *handle, void *context, const char *module, const char *format, va_list words) {
    (void)handle, (void)context, (void)module, (void)format, (void)words;
    return 1;
}

static tmsize_t read_nothing(thandle_t handle, void *buffer, tmsize_t length) {
    (void)handle, (void)buffer, (void)length;
    return -1;
}

static bool make_room(ctiff_writer *writer, size_t needed) {
    if (needed <= writer->capacity) return true;
    size_t capacity = needed > SIZE_MAX / 2 ? needed : 2 * needed;
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (!bytes) return false;
    writer->bytes = bytes;
    writer->capacity = capacity;
    return true;
}

static tmsize_t write_bytes(thandle_t handle, void *buffer, tmsize_t length) {
    ctiff_writer *writer = handle;
    size_t end;
    if (length < 0 || __builtin_add_overflow(writer->position, (size_t)length, &end) || !make_room(writer, end))
        return -1;
    if (writer->position > writer->count) memset(writer->bytes + writer->count, 0, writer->position - writer->count);
    memcpy(writer->bytes + writer->position, buffer, (size_t)length);
    writer->position = end;
    if (end > writer->count) writer->count = end;
    return length;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    ctiff_writer *writer = handle;
    size_t base = whence == SEEK_CUR ? writer->position : whence == SEEK_END ? writer->count : 0;
    return writer->position = base + offset;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((ctiff_writer *)handle)->count; }

static void set_tags(TIFF *handle, ctiff_picture picture) {
    tiff.TIFFSetField(handle, TIFFTAG_IMAGEWIDTH, picture.width);
    tiff.TIFFSetField(handle, TIFFTAG_IMAGELENGTH, picture.height);
    tiff.TIFFSetField(handle, TIFFTAG_BITSPERSAMPLE, picture.bits);
    tiff.TIFFSetField(handle, TIFFTAG_SAMPLESPERPIXEL, picture.channels);
    tiff.TIFFSetField(handle, TIFFTAG_ROWSPERSTRIP, picture.strip_rows);
    tiff.TIFFSetField(handle, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    tiff.TIFFSetField(
        handle, TIFFTAG_PHOTOMETRIC, picture.channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    uint16_t straight = EXTRASAMPLE_UNASSALPHA;
    if (picture.channels == 4) tiff.TIFFSetField(handle, TIFFTAG_EXTRASAMPLES, 1, &straight);
    tiff.TIFFSetField(handle, TIFFTAG_XRESOLUTION, 72.0);
    tiff.TIFFSetField(handle, TIFFTAG_YRESOLUTION, 72.0);
    tiff.TIFFSetField(handle, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    tiff.TIFFSetField(handle, TIFFTAG_COMPRESSION, picture.compression);
    // From 6, the default, libtiff asks libdeflate for one level more, which takes half as long again for 1 % less.
    if (picture.compression == COMPRESSION_ADOBE_DEFLATE) tiff.TIFFSetField(handle, TIFFTAG_ZIPQUALITY, 5);
    // Stores each sample's difference from the one on its left (section 14).
    if (picture.compression != COMPRESSION_NONE)
        tiff.TIFFSetField(handle, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
}

ctiff_writer *ctiff_writer_new(ctiff_picture picture, ctiff_failure *failure) {
    if (!load_tiff(failure)) return NULL;
    ctiff_writer *writer = calloc(1, sizeof *writer);
    TIFFOpenOptions *options = writer ? tiff.TIFFOpenOptionsAlloc() : NULL;
    if (options) {
        tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, keep_tiff_error, &writer->failure);
        tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, ignore_warning, writer);
        // l: little-endian on any machine. m: nothing is mapped.
        writer->handle = tiff.TIFFClientOpenExt(
            "", "wlm", writer, read_nothing, write_bytes, seek, close_nothing, size_of, NULL, NULL, options);
        tiff.TIFFOpenOptionsFree(options);
    }
    if (!writer || !writer->handle) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        if (writer) ctiff_writer_free(writer);
        return NULL;
    }
    set_tags(writer->handle, picture);
    return writer;
}

void ctiff_writer_set_text(ctiff_writer *writer, uint32_t tag, const char *text) {
    tiff.TIFFSetField(writer->handle, tag, text);
}

void ctiff_writer_set_bytes(ctiff_writer *writer, uint32_t tag, const uint8_t *bytes, size_t count) {
    tiff.TIFFSetField(writer->handle, tag, (uint32_t)count, bytes);
}

bool ctiff_writer_add(
    ctiff_writer *writer, uint32_t strip, const uint8_t *pixels, size_t count, ctiff_failure *failure) {
    // libtiff doesn't change samples here: it calculates differences in its own buffer.
    bool is_added =
        tiff.TIFFWriteEncodedStrip(writer->handle, strip, (void *)pixels, (tmsize_t)count) == (tmsize_t)count;
    if (!is_added) *failure = writer->failure;
    return is_added;
}

const uint8_t *ctiff_writer_finish(ctiff_writer *writer, size_t *count, ctiff_failure *failure) {
    if (!tiff.TIFFWriteDirectory(writer->handle)) {
        *failure = writer->failure;
        return NULL;
    }
    *count = writer->count;
    return writer->bytes;
}

void ctiff_writer_free(ctiff_writer *writer) {
    if (writer->handle) tiff.TIFFClose(writer->handle);
    free(writer->bytes);
    free(writer);
}
