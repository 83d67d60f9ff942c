import Glibc

/// Results as lines: each is there for the reader at once, and can't be lost with the program.
enum StandardOutput {
    static func write(_ line: some CustomStringConvertible) {
        StandardStream.write(Array("\(line)\n".utf8), to: STDOUT_FILENO)
    }
}
