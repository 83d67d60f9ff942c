#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

struct cavif_still {
    avifImage *image;
    /// The decoder that owns the planes, if the picture was decoded in one piece.
    avifDecoder *decoder;
};

cavif_still *cavif_still_new(void) { return calloc(1, sizeof(cavif_still)); }

static avifDecoder *decode(const uint8_t *bytes, size_t count, size_t pixels, cavif_failure *failure) {
    if (!load_avif(failure)) return NULL;
    avifDecoder *decoder = avif.avifDecoderCreate();
    if (!decoder) {
        snprintf(failure->message, sizeof failure->message, "out of memory");
        return NULL;
    }
    decoder->maxThreads = 1;
    decoder->ignoreExif = decoder->ignoreXMP = AVIF_TRUE;
    decoder->strictFlags = AVIF_STRICT_DISABLED;
    // Only dav1d refuses too large a picture before allocating it.
    decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
    limit_pixels(decoder, pixels);
    decoder->imageDimensionLimit = 65536;
    decoder->imageCountLimit = 1;
    avifResult result = avif.avifDecoderSetIOMemory(decoder, bytes, count);
    if (result == AVIF_RESULT_OK) result = avif.avifDecoderSetSource(decoder, AVIF_DECODER_SOURCE_PRIMARY_ITEM);
    if (result == AVIF_RESULT_OK) result = avif.avifDecoderParse(decoder);
    if (result == AVIF_RESULT_OK) result = avif.avifDecoderNextImage(decoder);
    if (result == AVIF_RESULT_OK) return decoder;
    failed(failure, result);
    avif.avifDecoderDestroy(decoder);
    return NULL;
}

/// Makes the whole picture, still without planes.
static avifImage *canvas(const avifImage *tile, cavif_tile place) {
    avifImage *image =
        avif.avifImageCreate((uint32_t)place.width, (uint32_t)place.height, tile->depth, tile->yuvFormat);
    if (!image) return NULL;
    image->yuvRange = tile->yuvRange;
    image->yuvChromaSamplePosition = tile->yuvChromaSamplePosition;
    image->colorPrimaries = tile->colorPrimaries;
    image->transferCharacteristics = tile->transferCharacteristics;
    image->matrixCoefficients = tile->matrixCoefficients;
    return image;
}

/// Copies the part of a tile that lies on the canvas, in samples of a plane.
static void paste(
    const uint8_t *from, size_t from_stride, uint8_t *to, size_t to_stride, size_t left, size_t top, size_t columns,
    size_t rows, size_t sample) {
    for (size_t y = 0; y < rows; y++)
        memcpy(to + (top + y) * to_stride + left * sample, from + y * from_stride, columns * sample);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t halved(size_t value, int shift) { return shift ? (value + 1) / 2 : value; }

static bool add_colours(cavif_still *still, const avifImage *tile, cavif_tile place) {
    avifImage *image = still->image;
    if (tile->depth != image->depth || tile->yuvFormat != image->yuvFormat || tile->yuvRange != image->yuvRange)
        return false;
    size_t sample = image->depth > 8 ? 2 : 1;
    int across = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420 || image->yuvFormat == AVIF_PIXEL_FORMAT_YUV422;
    int down = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    // With subsampling, a tile has to begin at an even pixel, or its chroma would lie between two samples.
    if ((across && place.left % 2) || (down && place.top % 2)) return false;
    size_t width = least(tile->width, image->width - (uint32_t)place.left);
    size_t height = least(tile->height, image->height - (uint32_t)place.top);
    int planes = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3;
    for (int p = 0; p < planes; p++) {
        int x = p > 0 && across, y = p > 0 && down;
        paste(
            tile->yuvPlanes[p], tile->yuvRowBytes[p], image->yuvPlanes[p], image->yuvRowBytes[p],
            (size_t)place.left >> x, (size_t)place.top >> y, halved(width, x), halved(height, y), sample);
    }
    return true;
}

/// Adds alpha, which has its own range and depth. A table converts it to the full range at the picture's depth.
static bool add_alpha(cavif_still *still, const avifImage *tile, cavif_tile place) {
    avifImage *image = still->image;
    if (!image->alphaPlane) {
        if (avif.avifImageAllocatePlanes(image, AVIF_PLANES_A) != AVIF_RESULT_OK) return false;
        memset(image->alphaPlane, 0, (size_t)image->alphaRowBytes * image->height);
    }
    static const uint32_t deepest = 12;
    if (tile->depth > deepest || image->depth > deepest) return false;
    uint16_t table[1 << 12];
    double most_in = (1 << tile->depth) - 1, most_out = (1 << image->depth) - 1;
    double low = tile->yuvRange == AVIF_RANGE_LIMITED ? 16 << (tile->depth - 8) : 0;
    double high = tile->yuvRange == AVIF_RANGE_LIMITED ? 235 << (tile->depth - 8) : most_in;
    for (int i = 0; i < 1 << tile->depth; i++) {
        double value = (i - low) / (high - low);
        table[i] = (uint16_t)((value < 0 ? 0 : value > 1 ? 1 : value) * most_out + 0.5);
    }
    size_t width = least(tile->width, image->width - (uint32_t)place.left);
    size_t height = least(tile->height, image->height - (uint32_t)place.top);
    for (size_t y = 0; y < height; y++) {
        const uint8_t *from = tile->yuvPlanes[AVIF_CHAN_Y] + y * tile->yuvRowBytes[AVIF_CHAN_Y];
        uint8_t *to = image->alphaPlane + ((size_t)place.top + y) * image->alphaRowBytes;
        for (size_t x = 0; x < width; x++) {
            unsigned value = tile->depth > 8 ? ((const uint16_t *)from)[x] & ((1u << tile->depth) - 1) : from[x];
            size_t column = (size_t)place.left + x;
            if (image->depth > 8)
                ((uint16_t *)to)[column] = table[value];
            else
                to[column] = (uint8_t)table[value];
        }
    }
    return true;
}

/// Lends the picture the planes of a decoder that decoded all of it.
static void lend(cavif_still *still, avifDecoder *decoder) {
    still->decoder = decoder;
    for (int p = 0; p < AVIF_PLANE_COUNT_YUV; p++) {
        still->image->yuvPlanes[p] = decoder->image->yuvPlanes[p];
        still->image->yuvRowBytes[p] = decoder->image->yuvRowBytes[p];
    }
    still->image->imageOwnsYUVPlanes = AVIF_FALSE;
}

bool cavif_still_add(
    cavif_still *still, const uint8_t *bytes, size_t count, size_t pixels, cavif_tile place, cavif_failure *failure) {
    avifDecoder *decoder = decode(bytes, count, pixels, failure);
    if (!decoder) return false;
    const avifImage *tile = decoder->image;
    bool fits = place.left >= 0 && place.top >= 0 && place.left < place.width && place.top < place.height
        && tile->yuvPlanes[AVIF_CHAN_Y];
    bool is_first = fits && !still->image;
    if (is_first) fits = !place.is_alpha && (still->image = canvas(tile, place));
    bool is_whole = fits && tile->width == still->image->width && tile->height == still->image->height;
    if (is_first && fits && is_whole) {
        lend(still, decoder);
        return true;
    }
    if (is_first && fits) fits = avif.avifImageAllocatePlanes(still->image, AVIF_PLANES_YUV) == AVIF_RESULT_OK;
    if (fits) fits = place.is_alpha ? add_alpha(still, tile, place) : add_colours(still, tile, place);
    if (!fits) snprintf(failure->message, sizeof failure->message, "a part doesn't fit the picture");
    avif.avifDecoderDestroy(decoder);
    return fits;
}

cavif_planes cavif_still_planes(const cavif_still *still) {
    const avifImage *image = still->image;
    cavif_planes planes = {
        .width = (int)image->width, .height = (int)image->height, .depth = (int)image->depth,
        .is_full_range = image->yuvRange == AVIF_RANGE_FULL, .matrix = (int)image->matrixCoefficients,
        .primaries = (int)image->colorPrimaries, .transfer = (int)image->transferCharacteristics,
        .count = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3,
        .across = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420 || image->yuvFormat == AVIF_PIXEL_FORMAT_YUV422 ? 2 : 1,
        .down = image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420 ? 2 : 1,
    };
    for (int p = 0; p < planes.count; p++) {
        planes.rows[p] = image->yuvPlanes[p];
        planes.row_bytes[p] = image->yuvRowBytes[p];
    }
    return planes;
}

bool cavif_still_rgb(
    cavif_still *still, int channels, int depth, bool is_premultiplied, uint8_t *pixels, cavif_failure *failure) {
    avifImage *image = still->image;
    image->alphaPremultiplied = is_premultiplied;
    replace_matrix(image);
    avifRGBImage rgb;
    avif.avifRGBImageSetDefaults(&rgb, image);
    rgb.format = channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = (uint32_t)depth;
    rgb.pixels = pixels;
    rgb.rowBytes = image->width * (uint32_t)(channels * depth / 8);
    avifResult result = avif.avifImageYUVToRGB(image, &rgb);
    return result == AVIF_RESULT_OK || failed(failure, result);
}

void cavif_still_free(cavif_still *still) {
    if (still->image) avif.avifImageDestroy(still->image);
    if (still->decoder) avif.avifDecoderDestroy(still->decoder);
    free(still);
}
