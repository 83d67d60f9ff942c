#include <stdio.h>
#include <stdlib.h>

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
    // From 7 on, libaom uses its real-time mode, which crashes on transparency and isn't lossless when it should be.
    encoder->speed = encoding.effort > 3 ? 9 - encoding.effort : 6;
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
    image->matrixCoefficients =
        encoding.lossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
}

cavif_encoder *cavif_encoder_new(cavif_encoding encoding, cavif_failure *failure) {
    if (!load_avif(failure)) return NULL;
    cavif_encoder *encoder = calloc(1, sizeof *encoder);
    if (encoder) {
        bool full = encoding.lossless || encoding.full_chroma;
        encoder->encoding = encoding;
        encoder->encoder = avif.avifEncoderCreate();
        encoder->image = avif.avifImageCreate(
            (uint32_t)encoding.width, (uint32_t)encoding.height, 8,
            full ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420);
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

bool cavif_encoder_add(
    cavif_encoder *encoder, const uint8_t *pixels, uint64_t duration, cavif_failure *failure) {
    avifRGBImage rgb;
    avif.avifRGBImageSetDefaults(&rgb, encoder->image);
    rgb.format = encoder->encoding.channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    // libavif only reads them, though the field isn't const.
    rgb.pixels = (uint8_t *)pixels;
    rgb.rowBytes = (uint32_t)(encoder->encoding.width * encoder->encoding.channels);
    avifResult result = avif.avifImageRGBToYUV(encoder->image, &rgb);
    if (result == AVIF_RESULT_OK)
        result = avif.avifEncoderAddImage(
            encoder->encoder, encoder->image, duration > 0 ? duration : 1, AVIF_ADD_IMAGE_FLAG_NONE);
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
