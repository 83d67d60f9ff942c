/// libtiff, loaded on first use.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdarg.h>
#include <tiffio.h>

#include "CTIFFReader.h"
#include "CLibraryFile.h"

#define TIFF_FUNCTIONS(F) \
    F(TIFFOpenOptionsAlloc) \
    F(TIFFOpenOptionsFree) \
    F(TIFFOpenOptionsSetErrorHandlerExtR) \
    F(TIFFOpenOptionsSetWarningHandlerExtR) \
    F(TIFFOpenOptionsSetMaxSingleMemAlloc) \
    F(TIFFClientOpenExt) \
    F(TIFFClose) \
    F(TIFFGetField) \
    F(TIFFGetFieldDefaulted) \
    F(TIFFSetField) \
    F(TIFFIsTiled) \
    F(TIFFIsCODECConfigured) \
    F(TIFFScanlineSize64) \
    F(TIFFReadScanline) \
    F(TIFFComputeStrip) \
    F(TIFFNumberOfStrips) \
    F(TIFFNumberOfTiles) \
    F(TIFFReadEncodedStrip) \
    F(TIFFStripSize64) \
    F(TIFFTileSize64) \
    F(TIFFTileRowSize64) \
    F(TIFFComputeTile) \
    F(TIFFReadEncodedTile) \
    F(TIFFWriteEncodedStrip) \
    F(TIFFWriteDirectory) \
    F(TIFFRGBAImageBegin) \
    F(TIFFRGBAImageGet) \
    F(TIFFRGBAImageEnd)

/// libtiff's functions under their own names, typed by its headers.
typedef struct {
#define F(name) __typeof__(name) *name;
    TIFF_FUNCTIONS(F)
#undef F
} tiff_library;

extern tiff_library tiff;

/// Loads libtiff, once for all threads; false if this system has none.
bool load_tiff(ctiff_failure *failure);

/// Stores libtiff's error message in `context`, a `ctiff_failure`.
int keep_tiff_error(TIFF *handle, void *context, const char *module, const char *format, va_list words);

#endif
