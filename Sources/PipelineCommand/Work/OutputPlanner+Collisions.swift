import ArgumentParser
import Pipeline

/// What happens when the results of several sources would have the same path.
enum CollisionRule: String, CaseIterable, ExpressibleByArgument {
    /// No work starts.
    case error
    /// The names keep their sources' extensions: `a.heic.png` and `a.heif.png`.
    case keepExtension = "keep-extension"
    /// Every name after the first gets a number: `a.png` and `a-2.png`.
    case number

    /// What the user can do about results that still have the same path.
    var remedy: String {
        switch self {
        case .error: " Give --on-collision keep-extension or number."
        case .keepExtension: " Give --on-collision number."
        case .number: ""
        }
    }
}

extension OutputPlanner {
    /// The names of all sources, changed by a rule if results would have the same path.
    func distinct(_ names: [OutputName], of sources: [BatchSource], by rule: CollisionRule) -> [OutputName] {
        guard rule != .error else { return names }
        let paths = zip(sources, names).map { path(of: $0, $1) }
        let counts = paths.reduce(into: [[UInt8]: Int]()) { counts, path in
            if let path { counts[path, default: 0] += 1 }
        }
        var taken = Set(counts.keys)
        var numbers: [[UInt8]: Int] = [:]
        return names.indices.map { index in
            let name = names[index]
            guard let path = paths[index], counts[path, default: 1] > 1 else { return name }
            guard rule == .number else {
                return name.sourceExtension.map { name.renamed("\(name.name).\($0)") } ?? name
            }
            guard let number = numbers[path] else {
                numbers[path] = 2
                return name
            }
            for number in number... {
                let numbered = name.renamed("\(name.name)-\(number)")
                // The name may have no part in the path.
                guard let other = self.path(of: sources[index], numbered), other != path else { break }
                guard taken.insert(other).inserted else { continue }
                numbers[path] = number + 1
                return numbered
            }
            return name
        }
    }

    private func path(of source: BatchSource, _ name: OutputName) -> [UInt8]? {
        guard source.error == nil else { return nil }
        return (try? target(source.input, name))?.plannedPath.map(Self.normalized)
    }

    /// Refuses results that would have the same path.
    /// - Throws: `ValidationError` that names both sources.
    static func refuseCollisions(_ jobs: [Job], remedy: String = "") throws {
        var taken: [[UInt8]: String] = [:]
        for job in jobs {
            guard case .success(let targets) = job.targets else { continue }
            for target in targets {
                guard let path = target.plannedPath else { continue }
                if let other = taken.updateValue(job.input, forKey: normalized(path)) {
                    throw ValidationError(
                        (other.utf8.elementsEqual(job.input.utf8)
                            ? "\(job.shown) would be written to \(printable(path)) twice."
                            : "\(shown(other)) and \(job.shown) would both be written to \(printable(path)).") + remedy)
                }
            }
        }
    }

    /// A path without `.` and doubled slashes.
    private static func normalized(_ path: String) -> [UInt8] {
        // Bytes, since Swift strings of different bytes may be equal and yet name different files.
        let slash = UInt8(ascii: "/")
        let parts = path.utf8.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
        return (path.utf8.first == slash ? [slash] : []) + parts.joined(separator: CollectionOfOne(slash))
    }
}
