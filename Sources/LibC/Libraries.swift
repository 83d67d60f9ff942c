/// The file of a shared library that is opened at run time, such as `libvips.so.42`.
///
/// On macOS it is Homebrew's, with its folder, since the loader would look for a bare name in the current folder. The
/// macro `LIBRARY_FILE` of `CImages` makes the same names in C.
package func libraryFile(_ name: String, _ version: String) -> String {
    #if canImport(Darwin) && arch(arm64)
    "/opt/homebrew/lib/\(name).\(version).dylib"
    #elseif canImport(Darwin)
    "/usr/local/lib/\(name).\(version).dylib"
    #else
    "\(name).so.\(version)"
    #endif
}
