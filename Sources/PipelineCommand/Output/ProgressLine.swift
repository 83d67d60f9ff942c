import Pipeline

/// Shows how many bytes have arrived, on one line of the terminal.
struct ProgressLine: Sendable {
    private let name: String

    /// `nil` if standard error isn't a terminal that can redraw a line.
    init?(_ name: String) {
        guard StandardError.isRedrawable else { return nil }
        self.name = String(name.suffix(40))
    }

    func show(_ event: LoadEvent) {
        guard case .progress(let received, let expected) = event else { return }
        let share = expected.map { $0 > 0 ? " \(Int(min(100, Double(received) * 100 / Double($0)))) %" : "" } ?? ""
        StandardError.write("\r\u{1B}[K\(name): \(received) bytes\(share)")
    }

    func clear() { StandardError.write("\r\u{1B}[K") }
}
