import ArgumentParser
import Pipeline
import Stages

/// What happens when the results of several sources would have the same path.
enum CollisionRule: String, CaseIterable, ExpressibleByArgument {
    /// The later source fails.
    case error
    /// The names keep their sources' extensions: `a.heic.png` and `a.heif.png`.
    case keepExtension = "keep-extension"
    /// Every name after the first gets a number: `a.png` and `a-2.png`.
    case number
}

/// Two sources whose results would have the same path.
struct OutputCollision: Error {
    let first: String
    let second: String
    let path: String
    let remedy: String

    var text: String { "\(first) and \(second) would both be written to \(printable(path)).\(remedy)" }

    /// The error of the second source.
    var error: LoadError {
        LoadError(
            .outputExists, subject: second,
            "The result of \(first) is also written to \(printable(path)).\(remedy)")
    }
}

/// The paths of the results that were planned so far.
///
/// Paths are kept as hashes of 64 bits, which differ among millions of paths.
struct OutputPaths {
    /// The rows that the paths belong to.
    private var rows: [UInt64: Int32] = [:]
    /// The next numbers of the names that several sources share.
    private var numbers: [UInt64: Int] = [:]
    /// The paths that several sources have, for a rule that changes all of them.
    private var shared: Set<UInt64> = []

    /// Claims a path for a row.
    /// - Returns: The earlier row that has it; `nil` if there is none.
    mutating func claim(_ path: String, row: Int) -> Int? {
        let key = Self.key(path)
        if let other = rows[key] { return Int(other) }
        rows[key] = Int32(clamping: row)
        return nil
    }

    /// Claims a path for a row under the first number that gives one of its own; `nil` if numbers don't change it.
    mutating func number(_ path: String, row: Int, _ numbered: (Int) -> String?) -> Int? {
        let key = Self.key(path)
        for number in (numbers[key] ?? 2)... {
            guard let other = numbered(number), other != path else { return nil }
            guard claim(other, row: row) == nil else { continue }
            numbers[key] = number + 1
            return number
        }
        return nil
    }

    /// Whether several of the noted sources have a path.
    func isShared(_ path: String) -> Bool { shared.contains(Self.key(path)) }

    /// Notes a path of a source, for ``isShared(_:)``.
    mutating func note(_ path: String) {
        let key = Self.key(path)
        if rows.updateValue(0, forKey: key) != nil { shared.insert(key) }
    }

    /// Forgets whose the paths are, but not which ones are shared.
    mutating func forgetRows() { rows = [:] }

    /// The hash of a path without `.` and doubled slashes.
    private static func key(_ path: String) -> UInt64 {
        // Bytes, since Swift strings of different bytes may be equal and yet name different files.
        let slash = UInt8(ascii: "/")
        let parts = path.utf8.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
        let bytes = (path.utf8.first == slash ? [slash] : []) + parts.joined(separator: CollectionOfOne(slash))
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension OutputPlanner {
    /// Refuses results of different sources that would have the same path. A job that comes twice is only done once.
    /// - Throws: `ValidationError` that names both sources.
    static func refuseCollisions(_ jobs: [Job]) throws -> [Job] {
        var paths = OutputPaths()
        return try jobs.enumerated().map { row, job in
            for path in try job.targets.get().compactMap(\.plannedPath) {
                guard let first = paths.claim(path, row: row) else { continue }
                if first == row { throw ValidationError("\(job.shown) would be written to \(printable(path)) twice.") }
                if jobs[first].input.utf8.elementsEqual(job.input.utf8) {
                    return Job(input: job.input, targets: job.targets, isRepeated: true)
                }
                let collision = OutputCollision(first: jobs[first].shown, second: job.shown, path: path, remedy: "")
                throw ValidationError(collision.text)
            }
            return job
        }
    }

    /// Plans the job of a source, whose path no earlier one may have.
    /// - Parameters:
    ///   - row: The place in the list, from 0.
    ///   - rule: What happens if an earlier source has the path; `nil` in verbs without a choice.
    ///   - other: Returns the source of an earlier row.
    /// - Throws: `OutputCollision` if the rule allows no path.
    func job(
        _ source: BatchSource, row: Int, _ rule: CollisionRule?, _ paths: inout OutputPaths,
        other: (Int) -> BatchSource
    ) throws(OutputCollision) -> Job {
        var name = name(of: source, row: row)
        var target: OutputTarget
        do throws(LoadError) {
            if let error = source.error { throw error }
            target = try self.target(source.input, name)
            if rule == .keepExtension, let path = target.plannedPath, paths.isShared(path),
                let changed = name.keepingExtension
            {
                name = changed
                target = try self.target(source.input, name)
            }
        } catch {
            return Job(input: source.input, targets: .failure(error))
        }
        let job = Job(input: source.input, targets: .success([target]))
        guard let path = target.plannedPath, let first = paths.claim(path, row: row) else { return job }
        let earlier = other(first)
        if earlier.input.utf8.elementsEqual(source.input.utf8) {
            return Job(input: source.input, targets: .success([target]), isRepeated: true)
        }
        if rule == .number,
            let number = paths.number(path, row: row, { self.path(of: source, name.numbered($0)) })
        {
            return Job(
                input: source.input,
                targets: Result { () throws(LoadError) in [try self.target(source.input, name.numbered(number))] })
        }
        throw OutputCollision(
            first: Self.shown(earlier.input), second: Self.shown(source.input), path: path,
            remedy: remedy(rule, (source, row), (earlier, first), path))
    }

    /// The name of a source in patterns.
    private func name(of source: BatchSource, row: Int) -> OutputName {
        OutputName(source.input, index: row + 1, folder: source.folder)
    }

    /// The path of a source's result before any rule changes it; `nil` if it has none.
    func path(of source: BatchSource, row: Int) -> String? {
        source.error != nil ? nil : path(of: source, name(of: source, row: row))
    }

    private func path(of source: BatchSource, _ name: OutputName) -> String? {
        (try? target(source.input, name))?.plannedPath
    }

    /// The rules that would keep two results apart.
    private func remedy(
        _ rule: CollisionRule?, _ one: (source: BatchSource, row: Int), _ other: (source: BatchSource, row: Int),
        _ path: String
    ) -> String {
        guard let rule else { return "" }
        func kept(_ source: BatchSource, _ row: Int) -> String? {
            name(of: source, row: row).keepingExtension.flatMap { self.path(of: source, $0) }
        }
        var rules: [CollisionRule] = []
        if rule == .error, kept(one.source, one.row) != kept(other.source, other.row) { rules.append(.keepExtension) }
        let numbered = self.path(of: one.source, name(of: one.source, row: one.row).numbered(2))
        if rule != .number, numbered != path { rules.append(.number) }
        let names = Formats.words(rules.map(\.rawValue), "or")
        return rules.isEmpty ? " Put {name} or {index} into -o." : " Give --on-collision \(names)."
    }
}
