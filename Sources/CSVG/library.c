#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

svg_library svg;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char reason[sizeof(((csvg_failure *)0)->message)];

static void drop_message(const char *domain, GLogLevelFlags level, const char *message, void *context) {
    (void)domain, (void)level, (void)message, (void)context;
}

static void load(void) {
    void *library = clibrary_open(LIBRARY_FILE("librsvg-2", "2"), CLIBRARY_ANY);
    if (!library) {
        snprintf(reason, sizeof reason, "librsvg is missing (%s); install librsvg2-2", clibrary_failure());
        return;
    }
    // The libraries that librsvg needs are searched too.
#define F(result, name, arguments) \
    svg.name = (result(*) arguments)dlsym(library, #name); \
    if (!svg.name) { \
        snprintf(reason, sizeof reason, "this librsvg has no %s; 2.52 or newer is needed", #name); \
        return; \
    }
    SVG_FUNCTIONS(F)
#undef F
    // The caller reports damaged files; the libraries shouldn't write to standard error.
    static const char *const domains[] = {"librsvg", "Pango", "GLib-GIO", "GdkPixbuf"};
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        g_log_set_handler(domains[i], G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL, drop_message, NULL);
    loaded = true;
}

bool load_svg(csvg_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}
