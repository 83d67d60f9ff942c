#include "CVersion.h"

#define TEXT(tokens) #tokens
#define QUOTED(macro) TEXT(macro)

#ifndef COMMIT
#define COMMIT
#endif

const char *cversion_commit(void) { return QUOTED(COMMIT); }
