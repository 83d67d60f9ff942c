/// librsvg and the libraries that it brings, loaded on first use.
#ifndef SVG_LIBRARY_H
#define SVG_LIBRARY_H

#include <glib-object.h>

#include "CSVG.h"
#include "CLibraryFile.h"

typedef struct {
    double x, y, width, height;
} svg_rectangle;

/// A length of an SVG: a number and its unit, of which 0 is percent.
typedef struct {
    double length;
    int unit;
} svg_length;

/// A size, and the same before it is rounded, which librsvg's header calls em and ex.
typedef struct {
    int width, height;
    double exact_width, exact_height;
} svg_dimensions;

/// A set of fonts of fontconfig.
typedef struct {
    int count, capacity;
    void **fonts;
} svg_fonts;

// The prototypes are repeated here, since the headers of these libraries lie in folders that only pkg-config names, and
// its flags would link the libraries. Objects are `void *`.
#define SVG_FUNCTIONS(F) \
    F(void *, rsvg_handle_new_from_data, (const uint8_t *, size_t, GError **)) \
    F(void, rsvg_handle_set_dpi, (void *, double)) \
    F(int, rsvg_handle_get_intrinsic_size_in_pixels, (void *, double *, double *)) \
    F(void, rsvg_handle_get_intrinsic_dimensions, \
        (void *, int *, svg_length *, int *, svg_length *, int *, svg_rectangle *)) \
    F(void, rsvg_handle_get_dimensions, (void *, svg_dimensions *)) \
    F(int, rsvg_handle_render_document, (void *, void *, const svg_rectangle *, GError **)) \
    F(void *, cairo_image_surface_create_for_data, (uint8_t *, int, int, int, int)) \
    F(void, cairo_surface_destroy, (void *)) \
    F(void, cairo_surface_finish, (void *)) \
    F(void *, cairo_create, (void *)) \
    F(void, cairo_destroy, (void *)) \
    F(void, cairo_translate, (void *, double, double)) \
    F(void, cairo_scale, (void *, double, double)) \
    F(int, cairo_status, (void *)) \
    F(const char *, cairo_status_to_string, (int)) \
    F(void *, cairo_ft_scaled_font_lock_face, (void *)) \
    F(void, cairo_ft_scaled_font_unlock_face, (void *)) \
    F(void *, FcConfigCreate, (void)) \
    F(int, FcConfigParseAndLoadFromMemory, (void *, const uint8_t *, int)) \
    F(int, FcConfigBuildFonts, (void *)) \
    F(int, FcConfigAppFontAddFile, (void *, const uint8_t *)) \
    F(int, FcConfigSetRescanInterval, (void *, int)) \
    F(int, FcConfigSetCurrent, (void *)) \
    F(svg_fonts *, FcConfigGetFonts, (void *, int)) \
    F(int, FcPatternGetCharSet, (void *, const char *, int, void **)) \
    F(int, FcCharSetHasChar, (void *, uint32_t)) \
    F(void *, pango_cairo_font_map_get_default, (void)) \
    F(void *, pango_font_map_create_context, (void *)) \
    F(void *, pango_font_map_load_font, (void *, void *, void *)) \
    F(void *, pango_font_description_from_string, (const char *)) \
    F(void, pango_font_description_free, (void *)) \
    F(void *, pango_font_get_hb_font, (void *)) \
    F(void *, pango_cairo_font_get_scaled_font, (void *)) \
    F(int, pango_version, (void))

typedef struct {
#define F(result, name, arguments) result(*name) arguments;
    SVG_FUNCTIONS(F)
#undef F
} svg_library;

extern svg_library svg;

/// Loads librsvg, once for all threads; false if this system has none.
bool load_svg(csvg_failure *failure);

#endif
