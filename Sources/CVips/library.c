#define _GNU_SOURCE

#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

vips_library vips;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;
static char reason[sizeof(((cvips_failure *)0)->message)];

static void drop_message(const char *domain, GLogLevelFlags level, const char *message, void *context) {
    (void)domain, (void)level, (void)message, (void)context;
}

static void load(void) {
    void *library = clibrary_open(LIBRARY_FILE("libvips", "42"), CLIBRARY_VIPS);
    if (!library) {
        snprintf(reason, sizeof reason, "libvips is missing (%s); install libvips42", clibrary_failure());
        return;
    }
#define F(name) \
    vips.name = (__typeof__(vips.name))dlsym(library, #name); \
    if (!vips.name) { \
        snprintf(reason, sizeof reason, "this libvips has no %s; 8.14 or newer is needed", #name); \
        return; \
    }
    VIPS_FUNCTIONS(F)
#undef F
    // The caller reports damaged files; libvips shouldn't write to standard error.
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG, drop_message, NULL);
    if (vips.vips_init("pipeline") != 0) {
        snprintf(reason, sizeof reason, "libvips did not start");
        return;
    }
    // Before vips_init, these two crash. One image a thread is faster than several threads an image, and no operation
    // is ever repeated, so nothing is cached.
    vips.vips_cache_set_max(0);
    vips.vips_concurrency_set(1);
    loaded = true;
}

bool load_vips(cvips_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}

bool cvips_is_available(cvips_failure *failure) { return load_vips(failure); }

/// Whether a line contains a word, in upper or lower case.
static bool mentions(const char *line, const char *word) {
    const char *found = strcasestr(line, word);
    return found && found < line + strcspn(line, "\n");
}

void take_vips_error(cvips_failure *failure, const char *about, const char *fallback) {
    pthread_mutex_lock(&error_lock);
    char *text = vips.vips_error_buffer_copy();
    pthread_mutex_unlock(&error_lock);
    const char *chosen = NULL;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (!about || mentions(line, about)) chosen = line;
    if (chosen)
        snprintf(failure->message, sizeof failure->message, "%.*s", (int)strcspn(chosen, "\n"), chosen);
    else
        snprintf(failure->message, sizeof failure->message, "%s", fallback);
    g_free(text);
}

void cvips_thread_will_end(void) {
    if (loaded) vips.vips_thread_shutdown();
}
