import Testing

@testable import PipelineServer

@Suite("Recent values")
struct RecentValuesTests {
    @Test("A value that is asked for stays, however many others come")
    func inUse() {
        var values = RecentValues<Int, String>()
        values.keep("in use", -1)
        for number in 0..<10_000 {
            values.keep("other", number)
            if number % 200 == 0 { #expect(values[-1] == "in use") }
        }
        #expect(values[-1] == "in use")
    }

    @Test("At most 512 values are kept, the latest among them")
    func limit() {
        var values = RecentValues<Int, Int>()
        for number in 0..<10_000 { values.keep(number, number) }
        #expect((0..<9_488).allSatisfy { values[$0] == nil })
        #expect((9_744..<10_000).allSatisfy { values[$0] == $0 })
    }
}
