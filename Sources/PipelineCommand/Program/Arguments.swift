import CArguments
import Pipeline

/// The command line, without the program's name. Bytes that are not UTF-8 are escaped as in paths.
enum Arguments {
    /// - Throws: ``Missing`` if the system passed none.
    static func all() throws -> [String] {
        let count = Int(carguments_count())
        guard count > 0 else { throw Missing() }
        return (1..<count).compactMap { index in carguments_value(Int32(index)).map { String(path: $0) } }
    }

    /// The program was started without even its name.
    struct Missing: Error, CustomStringConvertible {
        var description: String { "\(Program.name) was started without arguments, not even its own name." }
    }
}
