/// The file of a shared library that is opened at run time, such as "libvips.so.42".
///
/// On macOS it is Homebrew's, with its folder, since the loader would look for a bare name in the current folder. The
/// function `libraryFile` of LibC makes the same names in Swift.
#ifndef CLIBRARYFILE_H
#define CLIBRARYFILE_H

#include <stdint.h>

#if defined(__APPLE__) && defined(__arm64__)
#define LIBRARY_FILE(name, version) "/opt/homebrew/lib/" name "." version ".dylib"
#elif defined(__APPLE__)
#define LIBRARY_FILE(name, version) "/usr/local/lib/" name "." version ".dylib"
#else
#define LIBRARY_FILE(name, version) name ".so." version
#endif

/// What libvips counts as among the libraries that a process lacks.
#define CLIBRARY_VIPS (1ULL << 63)
/// What every other library counts as.
#define CLIBRARY_ANY (~0ULL)

/// Opens a library, or returns NULL. Once `clibrary_seal` was called it opens none, and notes that it was asked to.
/// - Parameter part: What the library counts as.
void *clibrary_open(const char *file, uint64_t part);

/// Why the last library couldn't be opened.
const char *clibrary_failure(void);

/// Opens no library from now on: the process is about to lose its access to files.
void clibrary_seal(void);

/// What this process was asked to open since it was sealed; 0 for nothing.
uint64_t clibrary_lacking(void);

#endif
