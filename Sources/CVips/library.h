/// libvips, loaded on first use.
#ifndef LIBRARY_H
#define LIBRARY_H

// GObject's casts check types by calling functions of libvips, which isn't linked.
#define G_DISABLE_CAST_CHECKS

#include <vips/vips.h>

#include "CVips.h"
#include "CLibraryFile.h"

#define VIPS_FUNCTIONS(F) \
    F(vips_init) \
    F(vips_cache_set_max) \
    F(vips_concurrency_set) \
    F(vips_error_buffer_copy) \
    F(vips_error_clear) \
    F(vips_thread_shutdown) \
    F(vips_source_custom_new) \
    F(vips_pngload_source) \
    F(vips_image_get_typeof) \
    F(vips_image_get_blob) \
    F(vips_image_get_n_pages) \
    F(vips_image_get_orientation) \
    F(vips_image_set_blob_copy) \
    F(vips_image_hasalpha) \
    F(vips_image_guess_interpretation) \
    F(vips_image_new_from_memory) \
    F(vips_image_set_progress) \
    F(vips_image_set_kill) \
    F(vips_region_new) \
    F(vips_region_prepare) \
    F(vips_colourspace) \
    F(vips_icc_transform) \
    F(vips_cast) \
    F(vips_extract_band) \
    F(vips_copy) \
    F(vips_heifsave_buffer)

/// libvips' functions under their own names, typed by its headers.
typedef struct {
#define F(name) __typeof__(name) *name;
    VIPS_FUNCTIONS(F)
#undef F
} vips_library;

extern vips_library vips;

/// Loads libvips, once for all threads; false if this system has none.
bool load_vips(cvips_failure *failure);

/// Takes the last line of libvips' messages that mentions `about`, or the very last if `about` is NULL.
///
/// The buffer is process-wide, so it also holds warnings and errors of concurrent calls.
void take_vips_error(cvips_failure *failure, const char *about, const char *fallback);

static inline bool is_cancelled(cvips_cancellation cancellation) {
    return cancellation.is_cancelled(cancellation.context);
}

/// Replaces an image by the result of an operation on it.
static inline bool take(VipsImage **image, VipsImage **next, int status) {
    if (status != 0) return false;
    g_object_unref(*image);
    *image = *next;
    *next = NULL;
    return true;
}

#endif
