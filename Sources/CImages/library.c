#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "CLibraryFile.h"

static atomic_bool sealed;
static _Atomic uint64_t lacking;

void *clibrary_open(const char *file, uint64_t part) {
    if (!atomic_load(&sealed)) return dlopen(file, RTLD_NOW | RTLD_LOCAL);
    atomic_fetch_or(&lacking, part);
    return NULL;
}

const char *clibrary_failure(void) { return atomic_load(&sealed) ? "it wasn't opened in time" : dlerror(); }

void clibrary_seal(void) { atomic_store(&sealed, true); }

uint64_t clibrary_lacking(void) { return atomic_load(&lacking); }
