#include <stdio.h>
#include <stdlib.h>

#include "library.h"

struct cavif_sequence {
    avifIO io;
    avifROData bytes;
    cavif_cancellation cancellation;
    avifDecoder *decoder;
};

static avifResult read_bytes(avifIO *io, uint32_t flags, uint64_t offset, size_t size, avifROData *out) {
    (void)flags;
    cavif_sequence *sequence = io->data;
    if (sequence->cancellation.is_cancelled(sequence->cancellation.context)) return AVIF_RESULT_IO_ERROR;
    size_t count = sequence->bytes.size;
    if (offset > count) return AVIF_RESULT_IO_ERROR;
    size_t rest = count - (size_t)offset;
    *out = (avifROData){.data = sequence->bytes.data + offset, .size = size < rest ? size : rest};
    return AVIF_RESULT_OK;
}

cavif_sequence *cavif_open(
    const uint8_t *bytes, size_t count, size_t pixels, size_t frames, cavif_cancellation cancellation,
    cavif_failure *failure) {
    if (!load_avif(failure)) return NULL;
    cavif_sequence *sequence = calloc(1, sizeof *sequence);
    avifDecoder *decoder = sequence ? avif.avifDecoderCreate() : NULL;
    if (!decoder) {
        free(sequence);
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    sequence->decoder = decoder;
    sequence->bytes = (avifROData){.data = bytes, .size = count};
    sequence->cancellation = cancellation;
    // No size is given, so that frames past the end of a truncated file only fail when they are decoded.
    sequence->io = (avifIO){.read = read_bytes, .persistent = AVIF_TRUE, .data = sequence};
    decoder->maxThreads = 1;
    decoder->ignoreExif = decoder->ignoreXMP = AVIF_TRUE;
    // Other encoders omit boxes that aren't needed here.
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    // Only dav1d refuses too large a picture before allocating it.
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    limit_pixels(decoder, pixels);
    decoder->imageCountLimit = (uint32_t)(frames < UINT32_MAX ? frames : UINT32_MAX);
    avif.avifDecoderSetIO(decoder, &sequence->io);
    avifResult result = avif.avifDecoderSetSource(decoder, AVIF_DECODER_SOURCE_TRACKS);
    if (result == AVIF_RESULT_OK) result = avif.avifDecoderParse(decoder);
    if (result == AVIF_RESULT_OK) return sequence;
    failed(failure, result);
    cavif_close(sequence);
    return NULL;
}

bool cavif_next(
    cavif_sequence *sequence, int width, int height, int channels, uint8_t *canvas, double *end,
    cavif_failure *failure) {
    avifDecoder *decoder = sequence->decoder;
    avifResult result = avif.avifDecoderNextImage(decoder);
    if (result != AVIF_RESULT_OK) return failed(failure, result);
    if (decoder->image->width != (uint32_t)width || decoder->image->height != (uint32_t)height) {
        snprintf(failure->message, sizeof failure->message, "a frame has another size");
        return false;
    }
    replace_matrix(decoder->image);
    avifRGBImage rgb;
    avif.avifRGBImageSetDefaults(&rgb, decoder->image);
    rgb.format = channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = 8;
    rgb.pixels = canvas;
    rgb.rowBytes = (uint32_t)(width * channels);
    result = avif.avifImageYUVToRGB(decoder->image, &rgb);
    if (result != AVIF_RESULT_OK) return failed(failure, result);
    *end = (decoder->imageTiming.pts + decoder->imageTiming.duration) * 1000;
    return true;
}

void cavif_close(cavif_sequence *sequence) {
    avif.avifDecoderDestroy(sequence->decoder);
    free(sequence);
}
