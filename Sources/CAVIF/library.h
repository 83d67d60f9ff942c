/// libavif, loaded on first use.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <avif/avif.h>

#include "CAVIF.h"
#include "CLibraryFile.h"

#define AVIF_FUNCTIONS(F) \
    F(avifVersion) \
    F(avifResultToString) \
    F(avifDecoderCreate) \
    F(avifDecoderDestroy) \
    F(avifDecoderSetSource) \
    F(avifDecoderSetIO) \
    F(avifDecoderSetIOMemory) \
    F(avifDecoderParse) \
    F(avifDecoderNextImage) \
    F(avifEncoderCreate) \
    F(avifEncoderDestroy) \
    F(avifEncoderSetCodecSpecificOption) \
    F(avifEncoderAddImage) \
    F(avifEncoderFinish) \
    F(avifImageCreate) \
    F(avifImageSetProfileICC) \
    F(avifImageAllocatePlanes) \
    F(avifImageDestroy) \
    F(avifRGBImageSetDefaults) \
    F(avifImageRGBToYUV) \
    F(avifImageYUVToRGB) \
    F(avifRWDataFree)

/// libavif's functions under their own names, typed by its headers.
typedef struct {
#define F(name) __typeof__(name) *name;
    AVIF_FUNCTIONS(F)
#undef F
} avif_library;

extern avif_library avif;

/// Loads libavif, once for all threads. Returns false if it is missing, or isn't the version this was built with.
bool load_avif(cavif_failure *failure);

/// Stores libavif's message for a result, and returns false.
bool failed(cavif_failure *failure, avifResult result);

/// Replaces the matrices of constant luminance, which libavif doesn't convert, by the others of the same primaries, as
/// libheif and browsers do. They differ little.
static inline void replace_matrix(avifImage *image) {
    if (image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_BT2020_CL)
        image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT2020_NCL;
    if (image->matrixCoefficients == AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_CL)
        image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_CHROMA_DERIVED_NCL;
}

/// Sets the most pixels that a decoded picture may have.
static inline void limit_pixels(avifDecoder *decoder, size_t pixels) {
    size_t most = pixels < AVIF_DEFAULT_IMAGE_SIZE_LIMIT ? pixels : AVIF_DEFAULT_IMAGE_SIZE_LIMIT;
    // Zero would mean no limit.
    decoder->imageSizeLimit = (uint32_t)(most > 0 ? most : 1);
}

#endif
