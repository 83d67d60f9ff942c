#include "file.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

enum { EXIF_MARKER = JPEG_APP0 + 1, ICC_MARKER = JPEG_APP0 + 2, LONGEST_SEGMENT = 0xffff };

size_t all_blocks(const struct jpeg_decompress_struct *info) {
    size_t blocks = 0;
    for (int i = 0; i < info->num_components; i++)
        blocks += (size_t)info->comp_info[i].width_in_blocks * info->comp_info[i].height_in_blocks;
    return blocks;
}

/// Whether all scans that a progressive picture needs have been read.
static bool is_complete(const struct jpeg_decompress_struct *info) {
    if (!info->progressive_mode || !info->coef_bits) return false;
    for (int i = 0; i < info->num_components; i++)
        for (int k = 0; k < DCTSIZE2; k++)
            if (info->coef_bits[i][k] != 0) return false;
    return true;
}

/// Whether libjpeg can continue after an error: after an unknown marker, or at the end of a complete picture, whatever
/// follows it.
static bool can_go_on(cjpeg_file *file) {
    // The marker that starts a frame of JPEG-LS (ISO/IEC 14495-1).
    if (file->info.unread_marker == 0xf7) {
        file->failure.is_unsupported = true;
        snprintf(file->failure.message, sizeof file->failure.message, "JPEG-LS");
        return false;
    }
    if (file->error == JERR_UNKNOWN_MARKER) {
        file->info.unread_marker = 0;
        return true;
    }
    // After other errors, libjpeg's state may describe what follows instead of this picture.
    bool is_harmless = file->error == JERR_SOI_DUPLICATE || file->error == JERR_BAD_LENGTH;
    if (!is_harmless || file->is_past_end || !is_complete(&file->info)) return false;
    file->is_past_end = true;
    file->info.unread_marker = JPEG_EOI;
    return true;
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
    find_provenance(file);
    if (setjmp(file->escape) && !can_go_on(file)) {
        *failure = file->failure;
        cjpeg_close(file);
        return NULL;
    }
    jpeg_read_header(&file->info, TRUE);
    *header = (cjpeg_header){
        .width = (int)file->info.image_width,
        .height = (int)file->info.image_height,
        .channels = channels(&file->info),
        .memory = jpeg_has_multiple_scans(&file->info) ? all_blocks(&file->info) * sizeof(JBLOCK) : 0,
        .has_provenance = file->has_provenance,
    };
    if (header->channels == 0) {
        file->failure.is_unsupported = true;
        fail(file, "its components are not known colours");
    }
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
    // A profile with a missing segment counts as none.
    if (setjmp(file->escape)) return NULL;
    if (!jpeg_read_icc_profile(&file->info, &profile, &length)) return NULL;
    *size = length;
    return profile;
}

bool cjpeg_start(cjpeg_file *file, int eighths, int *width, int *height, cjpeg_failure *failure) {
    file->info.scale_num = (unsigned)eighths;
    file->info.scale_denom = 8;
    int count = channels(&file->info);
    file->info.out_color_space = count == 1 ? JCS_GRAYSCALE : count == 3 ? JCS_RGB : JCS_CMYK;
    file->info.dct_method = JDCT_ISLOW;
    if (setjmp(file->escape) && !can_go_on(file)) {
        *failure = file->failure;
        return false;
    }
    jpeg_start_decompress(&file->info);
    // If all scans are gathered first, a truncated file yields a coarse picture without a warning.
    if (file->ended && !file->allow_damage && jpeg_has_multiple_scans(&file->info)) fail(file, "it ends too soon");
    *width = (int)file->info.output_width;
    *height = (int)file->info.output_height;
    return true;
}

/// Skips rows, some million pixels at a time.
static void skip_rows(cjpeg_file *file, JDIMENSION top) {
    struct jpeg_decompress_struct *info = &file->info;
    enum { PIXELS = 1 << 21 };
    // Whole rows of blocks at any scale, since libjpeg-turbo loses its place if it skips from within one. It decodes
    // rather than skips fewer than two of them.
    JDIMENSION block = (JDIMENSION)(info->max_v_samp_factor * DCTSIZE);
    JDIMENSION blocks = PIXELS / info->image_width / block;
    JDIMENSION rows = block * (blocks > 4 ? blocks : 4);
    while (info->output_scanline < top) {
        stop_if_cancelled((j_common_ptr)info);
        JDIMENSION rest = top - info->output_scanline;
        jpeg_skip_scanlines(info, rest < rows ? rest : rows);
    }
}

bool cjpeg_narrow(cjpeg_file *file, int *left, int *top, int *width, cjpeg_failure *failure) {
    struct jpeg_decompress_struct *info = &file->info;
    // Subsampled colours spread to neighbouring pixels.
    enum { MARGIN = 8 };
    JDIMENSION first = *left > MARGIN ? (JDIMENSION)(*left - MARGIN) : 0;
    JDIMENSION end = (JDIMENSION)(*left + *width + MARGIN);
    JDIMENSION count = (end < info->output_width ? end : info->output_width) - first;
    JDIMENSION row = *top > MARGIN ? (JDIMENSION)(*top - MARGIN) : 0;
    // With several scans, all blocks are decoded already, and libjpeg-turbo smooths unknown coefficients.
    if (jpeg_has_multiple_scans(info) || info->arith_code) (first = row = 0), (count = info->output_width);
    if (setjmp(file->escape)) {
        *failure = file->failure;
        return false;
    }
    if (count < info->output_width) jpeg_crop_scanline(info, &first, &count);
    skip_rows(file, row);
    (*left = (int)first), (*top = (int)row), (*width = (int)count);
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
    // Adobe's programs store inverted inks.
    if (info->out_color_space == JCS_CMYK && info->saw_Adobe_marker)
        for (size_t i = 0; i < length * (end - first); i++) pixels[i] = (uint8_t)~pixels[i];
    return (int)(end - first);
}

void cjpeg_close(cjpeg_file *file) {
    jpeg_destroy_decompress(&file->info);
    free(file);
}
