#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "CJPEG.h"

enum { EXIF_MARKER = JPEG_APP0 + 1, LONGEST_SEGMENT = 65533, ROWS = 16 };

typedef struct {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    struct jpeg_destination_mgr destination;
    cjpeg_cancellation cancellation;
    cjpeg_failure *failure;
    /// Where libjpeg's errors jump to.
    jmp_buf escape;
    uint8_t *bytes;
    size_t capacity;
    size_t count;
    uint8_t *rows;
} encoder;

static encoder *encoder_of(j_common_ptr info) { return info->client_data; }

_Noreturn static void give_up(encoder *encoder, const char *message) {
    snprintf(encoder->failure->message, sizeof encoder->failure->message, "%s", message);
    longjmp(encoder->escape, 1);
}

static void give_up_with_libjpegs_words(j_common_ptr info) {
    char words[JMSG_LENGTH_MAX];
    info->err->format_message(info, words);
    give_up(encoder_of(info), words);
}

static void say_nothing(j_common_ptr info) { (void)info; }

static void stop_if_cancelled(j_common_ptr info) {
    encoder *encoder = encoder_of(info);
    if (encoder->cancellation.is_cancelled(encoder->cancellation.context)) give_up(encoder, "cancelled");
}

static void start_writing(j_compress_ptr info) {
    encoder *encoder = encoder_of((j_common_ptr)info);
    info->dest->next_output_byte = encoder->bytes;
    info->dest->free_in_buffer = encoder->capacity;
}

/// Doubles the buffer, which libjpeg has filled.
static boolean grow(j_compress_ptr info) {
    encoder *encoder = encoder_of((j_common_ptr)info);
    uint8_t *bytes = realloc(encoder->bytes, encoder->capacity * 2);
    if (!bytes) give_up(encoder, "out of memory");
    encoder->bytes = bytes;
    info->dest->next_output_byte = bytes + encoder->capacity;
    info->dest->free_in_buffer = encoder->capacity;
    encoder->capacity *= 2;
    return TRUE;
}

static void end_writing(j_compress_ptr info) {
    encoder *encoder = encoder_of((j_common_ptr)info);
    encoder->count = encoder->capacity - info->dest->free_in_buffer;
}

/// Writes a segment that libjpeg has no function for. A block too long for one is omitted.
static void write_segment(encoder *encoder, const char *name, size_t name_size, cjpeg_block block) {
    if (!block.bytes || name_size + block.count > LONGEST_SEGMENT) return;
    jpeg_write_m_header(&encoder->info, EXIF_MARKER, (unsigned)(name_size + block.count));
    for (size_t i = 0; i < name_size; i++) jpeg_write_m_byte(&encoder->info, (unsigned char)name[i]);
    for (size_t i = 0; i < block.count; i++) jpeg_write_m_byte(&encoder->info, block.bytes[i]);
}

/// Blends RGBA over white, since JPEG has no transparency.
static void flatten(const uint8_t *in, uint8_t *out, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        unsigned alpha = in[4 * i + 3];
        for (size_t channel = 0; channel < 3; channel++)
            out[3 * i + channel] = (uint8_t)((in[4 * i + channel] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
}

static void configure(encoder *encoder, cjpeg_picture picture, cjpeg_encoding encoding) {
    struct jpeg_compress_struct *info = &encoder->info;
    info->image_width = (JDIMENSION)picture.width;
    info->image_height = (JDIMENSION)picture.height;
    info->input_components = picture.channels == 1 ? 1 : 3;
    info->in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, encoding.quality, TRUE);
    info->optimize_coding = encoding.optimized;
    if (picture.channels > 1) {
        info->comp_info[0].h_samp_factor = encoding.horizontal;
        info->comp_info[0].v_samp_factor = encoding.vertical;
    }
    if (encoding.progressive) jpeg_simple_progression(info);
}

static void write_rows(encoder *encoder, cjpeg_picture picture) {
    struct jpeg_compress_struct *info = &encoder->info;
    size_t width = (size_t)picture.width;
    size_t length = width * (size_t)picture.channels;
    while (info->next_scanline < info->image_height) {
        stop_if_cancelled((j_common_ptr)info);
        JSAMPROW lines[ROWS];
        JDIMENSION first = info->next_scanline;
        JDIMENSION count = info->image_height - first < ROWS ? info->image_height - first : ROWS;
        for (JDIMENSION i = 0; i < count; i++) {
            const uint8_t *row = picture.pixels + (first + i) * length;
            lines[i] = (JSAMPROW)row;
            if (picture.channels == 4) {
                lines[i] = encoder->rows + i * width * 3;
                flatten(row, lines[i], width);
            }
        }
        jpeg_write_scanlines(info, lines, count);
    }
}

static void run(encoder *encoder, cjpeg_picture picture, cjpeg_encoding encoding) {
    static const char exif[] = "Exif\0";
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    encoder->info.client_data = encoder;
    jpeg_create_compress(&encoder->info);
    encoder->info.progress = &encoder->progress;
    encoder->info.dest = &encoder->destination;
    // Most pictures take less than half a byte a pixel.
    encoder->capacity = 4096 + (size_t)picture.width * (size_t)picture.height / 2;
    encoder->bytes = malloc(encoder->capacity);
    if (picture.channels == 4) encoder->rows = malloc(ROWS * (size_t)picture.width * 3);
    if (!encoder->bytes || (picture.channels == 4 && !encoder->rows)) give_up(encoder, "out of memory");
    configure(encoder, picture, encoding);
    jpeg_start_compress(&encoder->info, TRUE);
    write_segment(encoder, exif, sizeof exif, encoding.exif);
    write_segment(encoder, xmp, sizeof xmp, encoding.xmp);
    if (encoding.profile.bytes)
        jpeg_write_icc_profile(&encoder->info, encoding.profile.bytes, (unsigned)encoding.profile.count);
    write_rows(encoder, picture);
    jpeg_finish_compress(&encoder->info);
}

uint8_t *cjpeg_encode(
    cjpeg_picture picture, cjpeg_encoding encoding, cjpeg_cancellation cancellation, size_t *count,
    cjpeg_failure *failure) {
    encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    encoder->cancellation = cancellation;
    encoder->failure = failure;
    encoder->info.err = jpeg_std_error(&encoder->errors);
    encoder->errors.error_exit = give_up_with_libjpegs_words;
    encoder->errors.output_message = say_nothing;
    encoder->progress.progress_monitor = stop_if_cancelled;
    encoder->destination = (struct jpeg_destination_mgr){
        .init_destination = start_writing, .empty_output_buffer = grow, .term_destination = end_writing};
    uint8_t *bytes = NULL;
    if (setjmp(encoder->escape)) {
        free(encoder->bytes);
    } else {
        run(encoder, picture, encoding);
        *count = encoder->count;
        bytes = encoder->bytes;
    }
    jpeg_destroy_compress(&encoder->info);
    free(encoder->rows);
    free(encoder);
    return bytes;
}
