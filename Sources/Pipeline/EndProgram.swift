import Glibc

/// Ends the program over a mistake in it and says which. `preconditionFailure` alone says nothing in a release build,
/// where a list that was put together at run time is most likely to be wrong.
func endProgram(overMistake message: String) -> Never {
    let line = Array("Pipeline: \(message)\n".utf8)
    _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    preconditionFailure()
}
