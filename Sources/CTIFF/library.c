#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

tiff_library tiff;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char reason[sizeof(((ctiff_failure *)0)->message)];

static void load(void) {
    void *library = clibrary_open(LIBRARY_FILE("libtiff", "6"), CLIBRARY_ANY);
    if (!library) {
        snprintf(reason, sizeof reason, "libtiff is missing (%s); install libtiff6", clibrary_failure());
        return;
    }
#define F(name) \
    tiff.name = (__typeof__(tiff.name))dlsym(library, #name); \
    if (!tiff.name) { \
        snprintf(reason, sizeof reason, "this libtiff has no %s; 4.5 or newer is needed", #name); \
        return; \
    }
    TIFF_FUNCTIONS(F)
#undef F
    loaded = true;
}

bool load_tiff(ctiff_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}

bool ctiff_is_available(ctiff_failure *failure) { return load_tiff(failure); }

int keep_tiff_error(TIFF *handle, void *context, const char *module, const char *format, va_list words) {
    (void)handle, (void)module;
    ctiff_failure *failure = context;
    vsnprintf(failure->message, sizeof failure->message, format, words);
    return 1;
}
