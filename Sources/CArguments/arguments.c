#include "CArguments.h"

#include <stdlib.h>

// glibc and macOS pass main's arguments to constructors; Musl doesn't. Swift's CommandLine reads /proc/self/cmdline instead,
// which may not be mounted, and replaces bytes that are not UTF-8.
#if defined(__APPLE__) || defined(LINUX) && defined(__GLIBC__)
static int count;
static char **values;

__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    values = argv;
}

int carguments_count(void) { return count; }

const char *carguments_value(int index) { return values[index]; }
#else
int carguments_count(void) { return -1; }

const char *carguments_value(int index) {
    (void)index;
    return NULL;
}
#endif
