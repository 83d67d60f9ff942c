/// The file of a shared library that is opened at run time, such as "libvips.so.42".
///
/// On macOS it is Homebrew's, with its folder, since the loader would look for a bare name in the current folder. The
/// function `libraryFile` of LibC makes the same names in Swift.
#ifndef CLIBRARYFILE_H
#define CLIBRARYFILE_H

#if defined(__APPLE__) && defined(__arm64__)
#define LIBRARY_FILE(name, version) "/opt/homebrew/lib/" name "." version ".dylib"
#elif defined(__APPLE__)
#define LIBRARY_FILE(name, version) "/usr/local/lib/" name "." version ".dylib"
#else
#define LIBRARY_FILE(name, version) name ".so." version
#endif

#endif
