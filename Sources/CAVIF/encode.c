#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct cavif_encoder {
    cavif_encoding encoding;
    avifEncoder *encoder;
    avifImage *image;
    avifRWData file;
};

/// Returns the quantizer of a quality, from 63, coarse, to 0, as libheif does for still pictures.
static int quantizer(int quality) { return ((100 - quality) * 63 + 50) / 100; }

static void set_quality(avifEncoder *encoder, cavif_encoding encoding) {
    encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
    encoder->maxThreads = 1;
    encoder->timescale = 1000;
    // From 7 on, libaom uses its real-time mode for sequences, which crashes on transparency and isn't lossless when it
    // should be.
    encoder->speed = encoding.is_still || encoding.effort > 3 ? 9 - encoding.effort : 6;
    bool lossless = encoding.lossless;
    encoder->minQuantizer = encoder->minQuantizerAlpha = 0;
    encoder->maxQuantizer = encoder->maxQuantizerAlpha = lossless ? 0 : 63;
    if (lossless) return;
    char level[8];
    snprintf(level, sizeof level, "%d", quantizer(encoding.quality));
    avif.avifEncoderSetCodecSpecificOption(encoder, "end-usage", "q");
    avif.avifEncoderSetCodecSpecificOption(encoder, "cq-level", level);
}

static void describe(avifImage *image, cavif_encoding encoding) {
    image->yuvRange = AVIF_RANGE_FULL;
    image->colorPrimaries = (avifColorPrimaries)encoding.primaries;
    image->transferCharacteristics = (avifTransferCharacteristics)encoding.transfer;
    // Later versions return whether there was memory for it. Without it the file says sRGB, which is a poor guess.
    if (encoding.profile) avif.avifImageSetProfileICC(image, encoding.profile, encoding.profile_count);
    // Without a matrix, no colour is rounded. Grey has none to round.
    if (encoding.lossless && encoding.channels > 1)
        image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_IDENTITY;
    else if (encoding.depth > 8 && encoding.primaries == AVIF_COLOR_PRIMARIES_BT2020)
        image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
    else
        image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
}

cavif_encoder *cavif_encoder_new(cavif_encoding encoding, cavif_failure *failure) {
    if (!load_avif(failure)) return NULL;
    cavif_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) {
        avifPixelFormat chroma = encoding.lossless || encoding.full_chroma ? AVIF_PIXEL_FORMAT_YUV444
                                                                           : AVIF_PIXEL_FORMAT_YUV420;
        encoder->encoding = encoding;
        encoder->encoder = avif.avifEncoderCreate();
        encoder->image = avif.avifImageCreate(
            (uint32_t)encoding.width, (uint32_t)encoding.height, (uint32_t)encoding.depth,
            encoding.channels > 1 ? chroma : AVIF_PIXEL_FORMAT_YUV400);
        if (encoder->encoder && encoder->image) {
            set_quality(encoder->encoder, encoding);
            describe(encoder->image, encoding);
            return encoder;
        }
        cavif_encoder_free(encoder);
    }
    snprintf(failure->message, sizeof failure->message, "out of memory");
    return NULL;
}

static avifResult take_colours(avifImage *image, int channels, const uint8_t *pixels) {
    avifRGBImage rgb;
    avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.format = channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = image->depth > 8 ? 16 : 8;
    // libavif only reads them, though the field isn't const.
    rgb.pixels = (uint8_t *)pixels;
    rgb.rowBytes = image->width * (uint32_t)channels * (rgb.depth / 8);
    return avif.avifImageRGBToYUV(image, &rgb);
}

/// Takes grey pixels for the luma, which libavif 0.11 can't do.
static avifResult take_grey(avifImage *image, const uint8_t *pixels) {
    avifResult result = avif.avifImageAllocatePlanes(image, AVIF_PLANES_YUV);
    if (result != AVIF_RESULT_OK) return result;
    uint32_t most = (1u << image->depth) - 1;
    for (size_t y = 0; y < image->height; y++) {
        uint8_t *row = image->yuvPlanes[AVIF_CHAN_Y] + y * image->yuvRowBytes[AVIF_CHAN_Y];
        if (image->depth == 8) {
            memcpy(row, pixels + y * image->width, image->width);
            continue;
        }
        const uint16_t *samples = (const uint16_t *)pixels + y * image->width;
        for (size_t x = 0; x < image->width; x++)
            ((uint16_t *)row)[x] = (uint16_t)((samples[x] * most + UINT16_MAX / 2) / UINT16_MAX);
    }
    return AVIF_RESULT_OK;
}

bool cavif_encoder_add(
    cavif_encoder *encoder, const uint8_t *pixels, uint64_t duration, cavif_failure *failure) {
    avifImage *image = encoder->image;
    int channels = encoder->encoding.channels;
    avifResult result = channels > 1 ? take_colours(image, channels, pixels) : take_grey(image, pixels);
    if (result == AVIF_RESULT_OK)
        result = avif.avifEncoderAddImage(
            encoder->encoder, image, duration > 0 ? duration : 1,
            encoder->encoding.is_still ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE);
    return result == AVIF_RESULT_OK || failed(failure, result);
}

const uint8_t *cavif_encoder_finish(cavif_encoder *encoder, size_t *count, cavif_failure *failure) {
    avifResult result = avif.avifEncoderFinish(encoder->encoder, &encoder->file);
    if (result != AVIF_RESULT_OK) {
        failed(failure, result);
        return NULL;
    }
    *count = encoder->file.size;
    return encoder->file.data;
}

void cavif_encoder_free(cavif_encoder *encoder) {
    avif.avifRWDataFree(&encoder->file);
    if (encoder->image) avif.avifImageDestroy(encoder->image);
    if (encoder->encoder) avif.avifEncoderDestroy(encoder->encoder);
    free(encoder);
}
