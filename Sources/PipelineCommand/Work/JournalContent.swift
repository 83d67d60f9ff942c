import Glibc
import Pipeline

/// What the lines of a journal say: the jobs, and the runs that wrote them.
struct JournalContent {
    private(set) var index = JournalIndex()
    /// The number of whole lines.
    private var lines = 0
    /// The processes of earlier runs.
    private var processes: Set<Int32> = []
    /// The folders of all results, each with a slash at its end.
    private var folders: Set<String> = []

    /// Reads a journal.
    /// - Parameter keepsResults: Whether ``JournalIndex/contains(result:)`` will be called.
    init(of file: JournalFile, keepsResults: Bool) {
        file.each { line, offset in
            lines += 1
            if line.count == 2, line[0] == "process", let process = Int32(line[1]) { processes.insert(process) }
            if let (job, number) = JournalSeen.read(line) { index[job]?.seen = number }
            guard let entry = JournalEntry(line) else { return }
            index[entry.origin.number] = JournalIndex.Place(offset: offset)
            for output in entry.outputs {
                if keepsResults { index.insert(result: entry.result(output)) }
                folders.insert(FileFacts.folder(of: output.path).map { $0 + "/" } ?? "./")
            }
        }
        index.pack()
    }

    /// Replaces a journal that mostly consists of lines without a use.
    /// - Returns: The new file; `nil` if it is small enough, or can't be replaced.
    func shortened(_ file: JournalFile) -> JournalFile? {
        let kept = index.lines
        // Each job has two lines.
        guard lines > 4 * kept.count + 1000 else { return nil }
        return file.replaced { keep in
            for (job, place) in kept {
                guard let line = file.line(at: place.offset) else { continue }
                keep(line)
                if place.seen != 0 { keep(JournalSeen.line(job, place.seen)) }
            }
        }
    }

    /// Removes the temporary files of killed runs.
    func removeLeftovers() {
        // A running process with the same number is another one, and may need its files.
        let ended = processes.filter { $0 != getpid() && kill($0, 0) != 0 && errno == ESRCH }.map(TemporaryName.prefix)
        guard !ended.isEmpty else { return }
        for folder in folders {
            for name in FolderListing.names(in: folder) ?? [] where ended.contains(where: { name.hasPrefix($0) }) {
                TemporaryName.remove(folder + name)
            }
        }
    }
}
