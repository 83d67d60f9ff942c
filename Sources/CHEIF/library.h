/// libheif, loaded on first use.
#ifndef LIBRARY_H
#define LIBRARY_H

#include <libheif/heif.h>

#include "CHEIF.h"
#include "CLibraryFile.h"

#define HEIF_FUNCTIONS(F) \
    F(heif_init) \
    F(heif_context_alloc) \
    F(heif_context_free) \
    F(heif_context_read_from_memory_without_copy) \
    F(heif_context_get_primary_image_handle) \
    F(heif_image_handle_release) \
    F(heif_decoding_options_alloc) \
    F(heif_decoding_options_free) \
    F(heif_decode_image) \
    F(heif_image_get_plane_readonly) \
    F(heif_image_get_width) \
    F(heif_image_get_height) \
    F(heif_image_get_bits_per_pixel_range) \
    F(heif_image_release)

/// libheif's functions under their own names, typed by its headers.
typedef struct {
#define F(name) __typeof__(name) *name;
    HEIF_FUNCTIONS(F)
#undef F
} heif_library;

extern heif_library heif;

/// Loads libheif, once for all threads; false if this system has none.
bool load_heif(cheif_failure *failure);

#endif
