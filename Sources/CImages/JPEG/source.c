#include "file.h"

static void start_or_end(j_decompress_ptr info) { (void)info; }

/// Supplies an end of image at the end of the bytes, so that a truncated file can be decoded.
static boolean fill(j_decompress_ptr info) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    file_of((j_common_ptr)info)->ended = true;
    info->src->next_input_byte = end;
    info->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) {
        fill(info);
    } else {
        info->src->next_input_byte += count;
        info->src->bytes_in_buffer -= (size_t)count;
    }
}

void use_bytes(cjpeg_file *file, const uint8_t *bytes, size_t count) {
    file->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = count,
        .init_source = start_or_end,
        .fill_input_buffer = fill,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = start_or_end,
    };
    file->info.src = &file->source;
}
