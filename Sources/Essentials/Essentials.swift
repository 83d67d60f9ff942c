// The part of Foundation that the package uses. Programs start sooner without the rest; macOS has it only as a whole.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
