/// Drawing SVG by librsvg.
///
/// librsvg is loaded by the first call that needs it, with cairo, Pango and fontconfig, which it uses.
#ifndef CSVG_H
#define CSVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Why a call failed, on one line.
typedef struct {
    char message[240];
} csvg_failure;

/// A font of the set that text is drawn with.
typedef struct {
    /// The font's file.
    const char *_Nonnull path;
    /// The font in Pango's words, such as "DejaVu Sans Bold".
    const char *_Nonnull name;
} csvg_font;

/// Opens librsvg and makes the given fonts the only ones of this process, in memory: later calls open no file. Call it
/// once, before any other. Returns false if a font can't be used; text is then drawn as boxes.
///
/// Pango asks fontconfig in threads of its own. They have ended when this returns, so that the process can fork.
/// - Parameter configuration: A configuration of fontconfig.
bool csvg_load_fonts(
    const char *_Nonnull configuration, const csvg_font *_Nonnull fonts, size_t count, csvg_failure *_Nonnull failure);

/// Whether a drawing has failed since a font did. cairo refuses a font from then on that was once to be too large.
bool csvg_fonts_are_spent(void);

/// Whether one of the fonts has a glyph for a character. A character without is drawn as a box.
bool csvg_has_glyph(uint32_t character);

/// A drawing. Only one thread may use it at a time.
typedef struct csvg_drawing csvg_drawing;

/// Parses an SVG. `width` and `height` become its size in CSS pixels, which may be 0 or beyond any picture's.
csvg_drawing *_Nullable csvg_open(
    const uint8_t *_Nonnull bytes, size_t count, double *_Nonnull width, double *_Nonnull height,
    csvg_failure *_Nonnull failure);

/// Draws into pixels of 4 bytes, RGBA with straight alpha, that are 0.
/// - Parameters:
///   - scale_x, scale_y: Pixels for a CSS pixel.
///   - width, height: The size of the picture.
bool csvg_draw(
    csvg_drawing *_Nonnull drawing, double scale_x, double scale_y, int width, int height, uint8_t *_Nonnull pixels,
    csvg_failure *_Nonnull failure);

/// Frees a drawing.
void csvg_close(csvg_drawing *_Nonnull drawing);

#endif
