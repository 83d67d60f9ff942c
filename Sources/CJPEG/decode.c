#include "file.h"

#include <stdlib.h>
#include <string.h>

enum { EXIF_MARKER = JPEG_APP0 + 1, ICC_MARKER = JPEG_APP0 + 2, LONGEST_SEGMENT = 0xffff };

/// What several scans are gathered in: a block of 64 coefficients of 16 bits for each component.
static size_t coefficient_bytes(const struct jpeg_decompress_struct *info) {
    size_t bytes = 0;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        bytes += (size_t)component->width_in_blocks * component->height_in_blocks * sizeof(JBLOCK);
    }
    return bytes;
}

static int channels(const struct jpeg_decompress_struct *info) {
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE: return 1;
    case JCS_YCbCr:
    case JCS_RGB: return 3;
    case JCS_CMYK:
    case JCS_YCCK: return 4;
    default: return 0;
    }
}

cjpeg_file *cjpeg_open(
    const uint8_t *bytes, size_t count, bool allow_damage, cjpeg_cancellation cancellation, cjpeg_header *header,
    cjpeg_failure *failure) {
    cjpeg_file *file = calloc(1, sizeof *file);
    if (!file) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    file->allow_damage = allow_damage;
    file->cancellation = cancellation;
    use_errors(file);
    if (setjmp(file->escape)) {
        *failure = file->failure;
        cjpeg_close(file);
        return NULL;
    }
    file->info.client_data = file;
    jpeg_create_decompress(&file->info);
    file->info.progress = &file->progress;
    use_bytes(file, bytes, count);
    jpeg_save_markers(&file->info, EXIF_MARKER, LONGEST_SEGMENT);
    jpeg_save_markers(&file->info, ICC_MARKER, LONGEST_SEGMENT);
    jpeg_read_header(&file->info, TRUE);
    *header = (cjpeg_header){
        .width = (int)file->info.image_width,
        .height = (int)file->info.image_height,
        .channels = channels(&file->info),
        .memory = jpeg_has_multiple_scans(&file->info) ? coefficient_bytes(&file->info) : 0,
    };
    if (header->channels == 0) fail(file, "its components are no colours that are known");
    return file;
}

const uint8_t *cjpeg_exif(const cjpeg_file *file, size_t *size) {
    for (jpeg_saved_marker_ptr marker = file->info.marker_list; marker; marker = marker->next) {
        if (marker->marker != EXIF_MARKER || marker->data_length < 6) continue;
        if (memcmp(marker->data, "Exif\0", 5) != 0) continue;
        *size = marker->data_length;
        return marker->data;
    }
    return NULL;
}

uint8_t *cjpeg_profile(cjpeg_file *file, size_t *size) {
    JOCTET *profile = NULL;
    unsigned int length = 0;
    // A profile of which a segment is missing is as good as none.
    if (setjmp(file->escape)) return NULL;
    if (!jpeg_read_icc_profile(&file->info, &profile, &length)) return NULL;
    *size = length;
    return profile;
}

bool cjpeg_start(cjpeg_file *file, int eighths, int *width, int *height, cjpeg_failure *failure) {
    if (setjmp(file->escape)) {
        *failure = file->failure;
        return false;
    }
    file->info.scale_num = (unsigned)eighths;
    file->info.scale_denom = 8;
    file->info.out_color_space = channels(&file->info) == 1 ? JCS_GRAYSCALE : JCS_RGB;
    file->info.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&file->info);
    // Where all scans are gathered first, what is missing looks like a coarse picture and no more is said of it.
    if (file->ended && !file->allow_damage && jpeg_has_multiple_scans(&file->info)) fail(file, "it ends too soon");
    *width = (int)file->info.output_width;
    *height = (int)file->info.output_height;
    return true;
}

int cjpeg_read(cjpeg_file *file, uint8_t *pixels, int rows, cjpeg_failure *failure) {
    if (setjmp(file->escape)) {
        *failure = file->failure;
        return -1;
    }
    struct jpeg_decompress_struct *info = &file->info;
    size_t length = (size_t)info->output_width * (size_t)info->output_components;
    JDIMENSION first = info->output_scanline;
    JDIMENSION end = info->output_height - first < (JDIMENSION)rows ? info->output_height : first + (JDIMENSION)rows;
    while (info->output_scanline < end) {
        JSAMPROW lines[8];
        JDIMENSION count = end - info->output_scanline < 8 ? end - info->output_scanline : 8;
        for (JDIMENSION i = 0; i < count; i++) lines[i] = pixels + (info->output_scanline - first + i) * length;
        jpeg_read_scanlines(info, lines, count);
    }
    return (int)(end - first);
}

void cjpeg_close(cjpeg_file *file) {
    jpeg_destroy_decompress(&file->info);
    free(file);
}
