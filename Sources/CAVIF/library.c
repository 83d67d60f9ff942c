#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

avif_library avif;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char reason[sizeof(((cavif_failure *)0)->message)];

/// Whether a version has the same structures as the headers.
static bool fits(const char *version) {
    char start[32];
    snprintf(start, sizeof start, "%d.%d.", AVIF_VERSION_MAJOR, AVIF_VERSION_MINOR);
    return strncmp(version, start, strlen(start)) == 0;
}

const char *cavif_library_name(void) {
    // Version 0.11 is the last one with the number 15.
    return AVIF_VERSION_MAJOR > 0 ? LIBRARY_FILE("libavif", "16") : LIBRARY_FILE("libavif", "15");
}

static void load(void) {
    void *library = clibrary_open(cavif_library_name(), CLIBRARY_ANY);
    if (!library) {
        snprintf(reason, sizeof reason, "libavif is missing (%s); install %s", clibrary_failure(),
            AVIF_VERSION_MAJOR > 0 ? "libavif16" : "libavif15");
        return;
    }
#define F(name) \
    avif.name = (__typeof__(avif.name))dlsym(library, #name); \
    if (!avif.name) { \
        snprintf(reason, sizeof reason, "this libavif has no %s; %s is needed", #name, "the version of the build"); \
        return; \
    }
    AVIF_FUNCTIONS(F)
#undef F
    if (!fits(avif.avifVersion())) {
        snprintf(
            reason, sizeof reason, "libavif is %s, but this was built for %d.%d; install that version, or rebuild",
            avif.avifVersion(), AVIF_VERSION_MAJOR, AVIF_VERSION_MINOR);
        return;
    }
    loaded = true;
}

bool load_avif(cavif_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}

bool cavif_is_available(cavif_failure *failure) { return load_avif(failure); }

bool failed(cavif_failure *failure, avifResult result) {
    snprintf(failure->message, sizeof failure->message, "%s", avif.avifResultToString(result));
    return false;
}
