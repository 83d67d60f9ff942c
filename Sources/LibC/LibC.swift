// The C library of the platform. All targets import this module, so that no other file has to name it.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#else
#error("The package needs the C library of Linux (Glibc or Musl) or of macOS (Darwin).")
#endif
