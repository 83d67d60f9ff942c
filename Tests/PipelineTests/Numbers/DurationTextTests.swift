import Pipeline
import Testing

@Suite("Durations as the trace prints them")
struct DurationTextTests {
    @Test(
        "Milliseconds with three digits after the point",
        arguments: [
            (Duration.zero, "0.000"), (.nanoseconds(999), "0.000"), (.microseconds(1), "0.001"),
            (.microseconds(1500), "1.500"), (.milliseconds(20), "20.000"), (.seconds(3), "3000.000"),
            (.seconds(86_400) + .microseconds(7), "86400000.007"), (.microseconds(-1), "-0.001"),
            (.milliseconds(-1500), "-1500.000"), (.seconds(Int64.max), "9223372036854775807000.000"),
        ])
    func text(duration: Duration, text: String) { #expect(duration.millisecondsText == text) }
}
