#include "CArguments.h"

static int count;
static char **values;

// glibc passes main's arguments to constructors. Swift's CommandLine reads /proc/self/cmdline instead, which may not be
// mounted, and replaces bytes that are not UTF-8.
__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    values = argv;
}

int carguments_count(void) { return count; }

const char *carguments_value(int index) { return values[index]; }
