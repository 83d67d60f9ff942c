import LibC

/// Ends the program because of a programming mistake, and prints it with the caller's line. `preconditionFailure` alone
/// prints nothing in a release build, where a list put together at run time is most likely to be wrong.
func endProgram(overMistake message: String, file: StaticString, line: UInt) -> Never {
    let text = Array("Pipeline: \(file):\(line): \(message)\n".utf8)
    _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    preconditionFailure(file: file, line: line)
}
