#include "library.h"

#include <dlfcn.h>
#include <jxl/version.h>
#include <pthread.h>
#include <stdio.h>

jxl_library jxl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool loaded;
static char reason[sizeof(((cjxl_failure *)0)->message)];

// Functions and structures differ between versions, and so do the names of the library's files.
#define NAME_OF(major, minor) LIBRARY_FILE("libjxl", #major "." #minor)
#define NAME(major, minor) NAME_OF(major, minor)

const char *cjxl_library_name(void) { return NAME(JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION); }

static void load(void) {
    void *library = clibrary_open(cjxl_library_name(), CLIBRARY_ANY);
    if (!library) {
        snprintf(
            reason, sizeof reason, "libjxl is missing (%s); install libjxl%d.%d", clibrary_failure(), JPEGXL_MAJOR_VERSION,
            JPEGXL_MINOR_VERSION);
        return;
    }
#define F(name) \
    jxl.name = (__typeof__(jxl.name))dlsym(library, #name); \
    if (!jxl.name) { \
        snprintf(reason, sizeof reason, "this libjxl has no %s; the version of the build is needed", #name); \
        return; \
    }
    JXL_FUNCTIONS(F)
#undef F
    loaded = true;
}

bool load_jxl(cjxl_failure *failure) {
    pthread_once(&once, load);
    if (!loaded) snprintf(failure->message, sizeof failure->message, "%s", reason);
    return loaded;
}

bool cjxl_is_available(cjxl_failure *failure) { return load_jxl(failure); }
