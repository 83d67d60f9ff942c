#include <dirent.h>
#include <stdio.h>
#include <time.h>

#include "library.h"

/// Makes a configuration with these fonts, and no others, the process' own.
static bool configure(const char *configuration, const csvg_font *fonts, size_t count, csvg_failure *failure) {
    void *config = svg.FcConfigCreate();
    if (!config || !svg.FcConfigParseAndLoadFromMemory(config, (const uint8_t *)configuration, 0)) {
        snprintf(failure->message, sizeof failure->message, "fontconfig can't be configured");
        return false;
    }
    // Without this, fontconfig would look for changed files.
    svg.FcConfigSetRescanInterval(config, 0);
    bool done = svg.FcConfigBuildFonts(config);
    for (size_t i = 0; done && i < count; i++) {
        done = svg.FcConfigAppFontAddFile(config, (const uint8_t *)fonts[i].path);
        if (!done) snprintf(failure->message, sizeof failure->message, "the font %s can't be read", fonts[i].path);
    }
    // Even without fonts, so that none is looked for later.
    return svg.FcConfigSetCurrent(config) && done;
}

/// Opens a font in Pango, HarfBuzz and FreeType, which would otherwise open its file when it is first drawn. They keep
/// it, mapped, as long as the font is referenced, which is for good.
static bool keep(const char *name, void *fonts, void *context) {
    void *description = svg.pango_font_description_from_string(name);
    void *font = svg.pango_font_map_load_font(fonts, context, description);
    svg.pango_font_description_free(description);
    if (!font || !svg.pango_font_get_hb_font(font)) return false;
    void *scaled = svg.pango_cairo_font_get_scaled_font(font);
    if (!scaled || !svg.cairo_ft_scaled_font_lock_face(scaled)) return false;
    svg.cairo_ft_scaled_font_unlock_face(scaled);
    return true;
}

bool csvg_has_glyph(uint32_t character) {
    enum { APPLICATION = 1 };
    csvg_failure failure;
    if (!load_svg(&failure)) return false;
    const svg_fonts *set = svg.FcConfigGetFonts(NULL, APPLICATION);
    for (int i = 0; set && i < set->count; i++) {
        void *characters;
        bool has_set = svg.FcPatternGetCharSet(set->fonts[i], "charset", 0, &characters) == 0;
        if (has_set && svg.FcCharSetHasChar(characters, character)) return true;
    }
    return false;
}

/// Whether this process has one thread.
static bool is_alone(void) {
    DIR *threads = opendir("/proc/self/task");
    if (!threads) return false;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
    closedir(threads);
    return count == 1;
}

/// Waits up to a second until Pango's threads have ended.
static bool wait_for_threads(void) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        if (is_alone()) return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

bool csvg_load_fonts(const char *configuration, const csvg_font *fonts, size_t count, csvg_failure *failure) {
    if (!load_svg(failure) || !configure(configuration, fonts, count, failure)) return false;
    // From 1.51.2 on, Pango keeps a thread of its own, which would be missing in forked processes.
    if (svg.pango_version() >= 15102) {
        snprintf(failure->message, sizeof failure->message, "Pango is newer than 1.50");
        return false;
    }
    void *map = svg.pango_cairo_font_map_get_default();
    void *context = svg.pango_font_map_create_context(map);
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        done = keep(fonts[i].name, map, context);
        if (!done) snprintf(failure->message, sizeof failure->message, "the font %s can't be opened", fonts[i].path);
    }
    g_object_unref(context);
    return wait_for_threads() && done;
}
