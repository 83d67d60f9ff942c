import LibC
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

/// Where a journal has the results of each job, and which results are a batch's own.
///
/// Jobs and results are numbers of 64 bits. An entry of an earlier run takes 32 bytes, so a journal may have millions.
struct JournalIndex {
    /// The last line of a job.
    struct Place {
        /// Where the line begins in the file.
        var offset: Int
        /// The files as they were when the job was done, as one number; 0 if unknown.
        var seen: UInt64 = 0
    }

    // What was loaded is sorted: a hash table would take twice as much.
    private var jobs: [UInt64] = []
    private var places: [Place] = []
    private var results: [UInt64] = []
    private var newPlaces: [UInt64: Place] = [:]
    private var newResults: Set<UInt64> = []

    /// The lines of all jobs, in the order of the file.
    var lines: [(job: UInt64, place: Place)] {
        (Array(zip(jobs, places)).filter { newPlaces[$0.0] == nil } + newPlaces.map { ($0.key, $0.value) })
            .map { (job: $0.0, place: $0.1) }.sorted { $0.place.offset < $1.place.offset }
    }

    subscript(job: UInt64) -> Place? {
        get {
            if let place = newPlaces[job] { return place }
            let index = Self.position(of: job, in: jobs)
            return index < jobs.count && jobs[index] == job ? places[index] : nil
        }
        set { newPlaces[job] = newValue }
    }

    /// Notes a result as the batch's own.
    mutating func insert(result: UInt64) { newResults.insert(result) }

    /// Whether a result is the batch's own.
    func contains(result: UInt64) -> Bool {
        if newResults.contains(result) { return true }
        let index = Self.position(of: result, in: results)
        return index < results.count && results[index] == result
    }

    /// Makes room after loading.
    mutating func pack() {
        let sorted = newPlaces.sorted { $0.key < $1.key }
        newPlaces = [:]
        jobs = sorted.map(\.key)
        places = sorted.map(\.value)
        results = newResults.sorted()
        newResults = []
    }

    /// The first index whose element isn't less.
    private static func position(of number: UInt64, in sorted: [UInt64]) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
