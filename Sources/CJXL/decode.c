#include <jxl/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct cjxl_file {
    JxlDecoder *decoder;
    cjxl_cancellation cancellation;
    JxlBasicInfo info;
    JxlPixelFormat format;
    uint8_t *profile;
    size_t profile_size;
};

static bool failed(cjxl_failure *failure, const char *message) {
    snprintf(failure->message, sizeof failure->message, "%s", message);
    return false;
}

/// Runs the parts of a decode, such as groups of 256 × 256 pixels, on the calling thread.
static JxlParallelRetCode run_parts(
    void *context, void *work, JxlParallelRunInit begin, JxlParallelRunFunction part, uint32_t start, uint32_t end) {
    cjxl_cancellation cancellation = *(const cjxl_cancellation *)context;
    if (begin(work, 1) != 0) return JXL_PARALLEL_RET_RUNNER_ERROR;
    for (uint32_t i = start; i < end; i++) {
        if (cancellation.is_cancelled(cancellation.context)) return JXL_PARALLEL_RET_RUNNER_ERROR;
        part(work, i, 0);
    }
    return 0;
}

// Version 0.9 dropped a parameter that was unused.
#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define COLOURS_OF(file) (file)->decoder, NULL
#else
#define COLOURS_OF(file) (file)->decoder
#endif

/// Reads the colours of the pixels as numbers; false if numbers of ITU-T H.273 can't describe them.
static bool read_numbers(cjxl_file *file, JxlColorProfileTarget target, cjxl_header *header) {
    JxlColorEncoding colours;
    if (jxl.JxlDecoderGetColorAsEncodedProfile(COLOURS_OF(file), target, &colours) != JXL_DEC_SUCCESS) return false;
    bool is_d65 = colours.white_point == JXL_WHITE_POINT_D65, is_grey = colours.color_space == JXL_COLOR_SPACE_GRAY;
    if (!is_grey && colours.color_space != JXL_COLOR_SPACE_RGB) return false;
    // Those of Display P3 differ from DCI P3's in white alone.
    if (is_d65 && (is_grey || colours.primaries == JXL_PRIMARIES_SRGB)) header->primaries = 1;
    else if (is_d65 && colours.primaries == JXL_PRIMARIES_2100) header->primaries = 9;
    else if (is_d65 && colours.primaries == JXL_PRIMARIES_P3) header->primaries = 12;
    else return false;
    switch (colours.transfer_function) {
    case JXL_TRANSFER_FUNCTION_SRGB:
    case JXL_TRANSFER_FUNCTION_LINEAR:
    case JXL_TRANSFER_FUNCTION_PQ:
    case JXL_TRANSFER_FUNCTION_HLG: header->transfer = (int)colours.transfer_function; return true;
    default: header->primaries = 0; return false;
    }
}

static bool is_high_range(const cjxl_header *header) {
    return header->transfer == JXL_TRANSFER_FUNCTION_PQ || header->transfer == JXL_TRANSFER_FUNCTION_HLG;
}

/// Lets libjxl convert its own colours, those of nearly all lossy files, to sRGB, unless their tones have to be mapped.
static void prefer_srgb(cjxl_file *file) {
    cjxl_header original = {0};
    if (file->info.uses_original_profile) return;
    if (read_numbers(file, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &original) && is_high_range(&original)) return;
    JxlColorEncoding srgb = {
        .color_space = file->info.num_color_channels == 1 ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB,
        .white_point = JXL_WHITE_POINT_D65, .primaries = JXL_PRIMARIES_SRGB,
        .transfer_function = JXL_TRANSFER_FUNCTION_SRGB, .rendering_intent = JXL_RENDERING_INTENT_RELATIVE,
    };
    jxl.JxlDecoderSetPreferredColorProfile(file->decoder, &srgb);
}

static void read_profile(cjxl_file *file) {
    JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    size_t size = 0;
    if (jxl.JxlDecoderGetICCProfileSize(COLOURS_OF(file), target, &size) != JXL_DEC_SUCCESS || size == 0) return;
    file->profile = malloc(size);
    if (!file->profile) return;
    file->profile_size = size;
    if (jxl.JxlDecoderGetColorAsICCProfile(COLOURS_OF(file), target, file->profile, size) != JXL_DEC_SUCCESS)
        file->profile_size = 0;
}

static void read_channels(const cjxl_file *file, cjxl_header *header) {
    header->is_grey = file->info.num_color_channels == 1;
    header->has_alpha = file->info.alpha_bits > 0;
    header->stored_channels = (int)(file->info.num_color_channels + file->info.num_extra_channels);
    for (uint32_t i = 0; i < file->info.num_extra_channels; i++) {
        JxlExtraChannelInfo channel;
        if (jxl.JxlDecoderGetExtraChannelInfo(file->decoder, i, &channel) == JXL_DEC_SUCCESS)
            header->is_ink |= channel.type == JXL_CHANNEL_BLACK;
    }
}

static void describe(cjxl_file *file, cjxl_header *header) {
    const JxlBasicInfo *info = &file->info;
    // Sides are below 2³⁰. libjxl turns pixels upright, but not these numbers.
    bool is_turned = info->orientation > JXL_ORIENT_FLIP_VERTICAL;
    header->width = (int)(is_turned ? info->ysize : info->xsize);
    header->height = (int)(is_turned ? info->xsize : info->ysize);
    header->bits = (int)info->bits_per_sample;
    header->is_animated = info->have_animation;
    header->loops = info->have_animation && info->animation.num_loops <= INT32_MAX ? (int)info->animation.num_loops : 0;
    read_channels(file, header);
    prefer_srgb(file);
    if (!read_numbers(file, JXL_COLOR_PROFILE_TARGET_DATA, header)) read_profile(file);
    header->is_deep = is_high_range(header) || header->transfer == JXL_TRANSFER_FUNCTION_LINEAR;
    file->format = (JxlPixelFormat){
        // There is no layout of grey with transparency.
        .num_channels = header->has_alpha ? 4 : info->num_color_channels,
        .data_type = header->is_deep ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, .endianness = JXL_BIG_ENDIAN,
    };
}

static bool read_header(cjxl_file *file, const uint8_t *bytes, size_t count, bool decodes, cjxl_failure *failure) {
    // Frames without an image are passed over.
    int events = JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_FRAME | (decodes ? JXL_DEC_FULL_IMAGE : 0);
    if (jxl.JxlDecoderSubscribeEvents(file->decoder, events) != JXL_DEC_SUCCESS
        || jxl.JxlDecoderSetParallelRunner(file->decoder, run_parts, &file->cancellation) != JXL_DEC_SUCCESS
        || jxl.JxlDecoderSetUnpremultiplyAlpha(file->decoder, JXL_TRUE) != JXL_DEC_SUCCESS
        || jxl.JxlDecoderSetInput(file->decoder, bytes, count) != JXL_DEC_SUCCESS)
        return failed(failure, "libjxl can't begin");
    JxlDecoderStatus status = jxl.JxlDecoderProcessInput(file->decoder);
    if (status == JXL_DEC_BASIC_INFO) {
        if (jxl.JxlDecoderGetBasicInfo(file->decoder, &file->info) != JXL_DEC_SUCCESS)
            return failed(failure, "the header can't be read");
        status = jxl.JxlDecoderProcessInput(file->decoder);
        if (status == JXL_DEC_COLOR_ENCODING) return true;
    }
    return failed(failure, status == JXL_DEC_NEED_MORE_INPUT ? "the header is cut off" : "the header can't be read");
}

cjxl_file *cjxl_open(
    const uint8_t *bytes, size_t count, bool decodes, cjxl_cancellation cancellation, cjxl_header *header,
    cjxl_failure *failure) {
    if (!load_jxl(failure)) return NULL;
    cjxl_file *file = calloc(1, sizeof *file);
    if (file) file->decoder = jxl.JxlDecoderCreate(NULL);
    if (!file || !file->decoder) {
        free(file);
        failed(failure, "out of memory");
        return NULL;
    }
    file->cancellation = cancellation;
    *header = (cjxl_header){0};
    if (read_header(file, bytes, count, decodes, failure)) {
        describe(file, header);
        return file;
    }
    cjxl_close(file);
    return NULL;
}

const uint8_t *cjxl_profile(const cjxl_file *file, size_t *size) {
    *size = file->profile_size;
    return file->profile_size ? file->profile : NULL;
}

int cjxl_count_frames(cjxl_file *file) {
    int frames = 0;
    while (jxl.JxlDecoderProcessInput(file->decoder) == JXL_DEC_FRAME) frames++;
    return frames;
}

static bool set_buffer(cjxl_file *file, uint8_t *pixels, size_t size) {
    size_t needed = 0;
    return jxl.JxlDecoderImageOutBufferSize(file->decoder, &file->format, &needed) == JXL_DEC_SUCCESS && needed == size
        && jxl.JxlDecoderSetImageOutBuffer(file->decoder, &file->format, pixels, size) == JXL_DEC_SUCCESS;
}

static double milliseconds(const cjxl_file *file) {
    JxlFrameHeader header;
    const JxlAnimationHeader *animation = &file->info.animation;
    if (!file->info.have_animation || animation->tps_numerator == 0
        || jxl.JxlDecoderGetFrameHeader(file->decoder, &header) != JXL_DEC_SUCCESS)
        return 0;
    return 1000.0 * header.duration * animation->tps_denominator / animation->tps_numerator;
}

bool cjxl_next(
    cjxl_file *file, bool allow_damage, uint8_t *pixels, size_t size, double *duration, cjxl_failure *failure) {
    *duration = 0;
    while (true) {
        switch (jxl.JxlDecoderProcessInput(file->decoder)) {
        case JXL_DEC_FRAME: *duration = milliseconds(file); break;
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
            if (!set_buffer(file, pixels, size)) return failed(failure, "a frame has another size");
            break;
        case JXL_DEC_FULL_IMAGE: return true;
        case JXL_DEC_NEED_MORE_INPUT:
            // Fails if there is nothing yet to show.
            if (allow_damage && jxl.JxlDecoderFlushImage(file->decoder) == JXL_DEC_SUCCESS) return true;
            return failed(failure, "the pixels are cut off");
        case JXL_DEC_SUCCESS: return failed(failure, "there are no more frames");
        default: return failed(failure, "the pixels can't be decoded");
        }
    }
}

void cjxl_close(cjxl_file *file) {
    jxl.JxlDecoderDestroy(file->decoder);
    free(file->profile);
    free(file);
}
