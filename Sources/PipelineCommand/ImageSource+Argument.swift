import Glibc
import Pipeline

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
