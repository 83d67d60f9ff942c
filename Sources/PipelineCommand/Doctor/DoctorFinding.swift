/// One finding of `pipectl doctor`.
struct DoctorFinding {
    let kind: String
    let name: String
    let state: String
    let isWell: Bool

    init(_ kind: String, _ name: String, _ state: String, _ isWell: Bool) {
        (self.kind, self.name, self.state, self.isWell) = (kind, name, state, isWell)
    }

    var report: Report { Report(["kind": kind, "name": name, "state": state, "ok": isWell], text) }

    private var text: String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        return "\(isWell ? "ok   " : "WRONG") \(padded(kind, 8))\(padded(name, 16))\(state)"
    }
}
