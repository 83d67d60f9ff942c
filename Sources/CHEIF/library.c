#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "hevc.h"

heif_library heif;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char reason[sizeof(((cheif_failure *)0)->message)];

static void load(void) {
    void *library = clibrary_open(LIBRARY_FILE("libheif", "1"), CLIBRARY_ANY);
    if (!library) {
        snprintf(reason, sizeof reason, "libheif is missing (%s); install libheif1", clibrary_failure());
        return;
    }
#define F(name) \
    heif.name = (__typeof__(heif.name))dlsym(library, #name); \
    if (!heif.name) { \
        snprintf(reason, sizeof reason, "this libheif has no %s; 1.13 or newer is needed", #name); \
        return; \
    }
    HEIF_FUNCTIONS(F)
#undef F
    clear_hevc_pictures();
    // Finds codecs that are plug-ins.
    heif.heif_init(NULL);
    loaded = true;
}

bool load_heif(cheif_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}

bool cheif_is_available(cheif_failure *failure) { return load_heif(failure); }
