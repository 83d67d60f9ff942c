import Glibc

/// Ends the program because of a programming mistake, and prints it. `preconditionFailure` alone prints nothing in a
/// release build, where a list put together at run time is most likely to be wrong.
func endProgram(overMistake message: String) -> Never {
    let line = Array("Pipeline: \(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    preconditionFailure()
}
