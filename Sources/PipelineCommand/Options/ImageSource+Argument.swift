import Glibc
import Pipeline

extension String {
    /// Whether it has the mark between a scheme and a host. Lists have millions of rows, so only bytes are compared.
    var hasScheme: Bool { holds("://") }

    /// Whether it has these ASCII characters somewhere.
    func holds(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard let first = text.first else { return true }
            var rest = Substring(self).utf8
            while let start = rest.firstIndex(of: first) {
                rest = rest[start...]
                if rest.starts(with: text) { return true }
                rest.removeFirst()
            }
            return false
        }
    }
}

extension ImageSource {
    /// Reads a source named on the command line or in a list of inputs. An existing file is a file, even one in a folder
    /// whose name looks like a host.
    init(argument text: String) throws(LoadError) {
        do {
            self = try ImageSource(parsing: text)
        } catch {
            guard error.code == .invalidURL, !text.utf8.contains(0), text.withPath({ access($0, F_OK) }) == 0 else {
                throw error
            }
            self = .file(text)
        }
    }
}
