/// libjxl, loaded on first use.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <jxl/decode.h>

#include "CJXL.h"
#include "CLibraryFile.h"

#define JXL_FUNCTIONS(F) \
    F(JxlDecoderVersion) \
    F(JxlDecoderCreate) \
    F(JxlDecoderDestroy) \
    F(JxlDecoderSubscribeEvents) \
    F(JxlDecoderSetParallelRunner) \
    F(JxlDecoderSetUnpremultiplyAlpha) \
    F(JxlDecoderSetInput) \
    F(JxlDecoderProcessInput) \
    F(JxlDecoderGetBasicInfo) \
    F(JxlDecoderGetExtraChannelInfo) \
    F(JxlDecoderGetColorAsEncodedProfile) \
    F(JxlDecoderGetICCProfileSize) \
    F(JxlDecoderGetColorAsICCProfile) \
    F(JxlDecoderSetPreferredColorProfile) \
    F(JxlDecoderGetFrameHeader) \
    F(JxlDecoderImageOutBufferSize) \
    F(JxlDecoderSetImageOutBuffer) \
    F(JxlDecoderFlushImage)

/// libjxl's functions under their own names, typed by its headers.
typedef struct {
#define F(name) __typeof__(name) *name;
    JXL_FUNCTIONS(F)
#undef F
} jxl_library;

extern jxl_library jxl;

/// Loads libjxl, once for all threads; false if this system has none, or not the version this was built with.
bool load_jxl(cjxl_failure *failure);

#endif
