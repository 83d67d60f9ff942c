/// One finding of `pipectl doctor`.
struct DoctorFinding: Encodable, CustomStringConvertible {
    let kind: String
    let name: String
    let state: String
    let isWell: Bool

    init(_ kind: String, _ name: String, _ state: String, _ isWell: Bool) {
        (self.kind, self.name, self.state, self.isWell) = (kind, name, state, isWell)
    }

    private enum CodingKeys: String, CodingKey { case kind, name, state, isWell = "ok" }

    var description: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        return "\(isWell ? "ok   " : "WRONG") \(padded(kind, 8))\(padded(name, 16))\(state)"
    }
}
