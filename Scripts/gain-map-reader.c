// Reads an AVIF with libavif. Writes the picture for a display with some stops of headroom, as RGB of 16 bits a channel in
// PQ, and prints the sizes of the picture and of its gain map.
//
//   reader FILE STOPS OUTPUT    With - for STOPS, the picture itself in its own colours.
#include <avif/avif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(avifResult result, const avifDecoder *decoder) {
    if (result != AVIF_RESULT_OK) fprintf(stderr, "%s %s\n", avifResultToString(result), decoder->diag.error);
    return result != AVIF_RESULT_OK;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "Usage: reader FILE STOPS OUTPUT\n");
        return 2;
    }
    avifDecoder *decoder = avifDecoderCreate();
    decoder->imageContentToDecode = AVIF_IMAGE_CONTENT_ALL;
    if (failed(avifDecoderSetIOFile(decoder, arguments[1]), decoder) || failed(avifDecoderParse(decoder), decoder)
        || failed(avifDecoderNextImage(decoder), decoder))
        return 1;
    avifImage *image = decoder->image;
    avifGainMap *map = image->gainMap;
    int isPlain = !strcmp(arguments[2], "-");
    if (!isPlain && (!map || !map->image)) {
        fprintf(stderr, "There is no gain map.\n");
        return 1;
    }
    avifRGBImage out;
    avifRGBImageSetDefaults(&out, image);
    out.depth = 16;
    out.format = AVIF_RGB_FORMAT_RGB;
    avifResult result = isPlain ? avifRGBImageAllocatePixels(&out) : AVIF_RESULT_OK;
    if (result == AVIF_RESULT_OK)
        result = isPlain ? avifImageYUVToRGB(image, &out)
                         : avifImageApplyGainMap(
                               image, map, strtof(arguments[2], NULL), image->colorPrimaries,
                               AVIF_TRANSFER_CHARACTERISTICS_PQ, &out, NULL, &decoder->diag);
    if (failed(result, decoder)) return 1;
    FILE *file = fopen(arguments[3], "wb");
    if (!file) return 1;
    for (uint32_t y = 0; y < out.height; y++) fwrite(out.pixels + (size_t)y * out.rowBytes, 6, out.width, file);
    avifImage *second = isPlain ? image : map->image;
    printf("%u %u %u %u\n", image->width, image->height, second->width, second->height);
    return fclose(file);
}
