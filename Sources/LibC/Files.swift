extension stat {
    #if canImport(Darwin)
    /// When the content last changed.
    package var modified: timespec { st_mtimespec }
    /// When the content or the attributes last changed.
    package var changed: timespec { st_ctimespec }
    #else
    /// When the content last changed.
    package var modified: timespec { st_mtim }
    /// When the content or the attributes last changed.
    package var changed: timespec { st_ctim }
    #endif
}

/// Waits until a file's content is on the disk. Returns -1, with the reason in `errno`, if that fails.
///
/// On macOS the disk may still hold it in its own cache: fsync(2) doesn't wait for that.
@discardableResult
package func syncContent(_ file: Int32) -> Int32 {
    #if canImport(Darwin)
    fsync(file)
    #else
    fdatasync(file)
    #endif
}
