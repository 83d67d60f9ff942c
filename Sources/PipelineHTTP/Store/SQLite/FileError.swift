import LibC

/// An error of the file system.
struct FileError: Error, CustomStringConvertible {
    /// The call that failed.
    let call: String
    /// The system's error number.
    let number: Int32

    /// Takes the calling thread's `errno`.
    init(_ call: String, number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    /// Whether the file system has no room.
    var isFull: Bool { number == ENOSPC || number == EDQUOT }

    var description: String { "\(call): \(String(cString: strerror(number)))" }
}
