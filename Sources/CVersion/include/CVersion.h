// The commit that the program was built from. Swift takes no values from the command line of a build, C does.
#ifndef CVERSION_H
#define CVERSION_H

/// Returns the commit that PIPECTL_COMMIT named at build time; empty without it.
const char *cversion_commit(void);

#endif
