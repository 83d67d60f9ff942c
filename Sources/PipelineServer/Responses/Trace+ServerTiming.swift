import Pipeline

extension Trace {
    /// The runs that took time, as `Server-Timing` lists them (W3C Server Timing): stages without a body, merged by name.
    var serverTiming: String {
        let runs = entries.indices.filter { index in
            let isComposite = index + 1 < entries.count && entries[index + 1].depth > entries[index].depth
            return entries[index].outcome != .skipped && !isComposite
        }
        // Bytes, since a string that grows takes a tenth of a cached response.
        var text: [UInt8] = []
        text.reserveCapacity(64 * runs.count)
        for (position, run) in runs.enumerated() {
            let stage = entries[run].stage
            guard !runs[..<position].contains(where: { entries[$0].stage == stage }) else { continue }
            let time = runs[position...].reduce(Duration.zero) { time, run in
                entries[run].stage == stage ? time + entries[run].duration : time
            }
            if !text.isEmpty { text += ", ".utf8 }
            text += stage.utf8
            text += ";dur=".utf8
            text += time.millisecondsText.utf8
            text += ";desc=\"".utf8
            text += entries[run].outcome.rawValue.utf8
            text.append(UInt8(ascii: "\""))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
