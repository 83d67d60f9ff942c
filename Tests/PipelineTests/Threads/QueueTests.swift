import Pipeline
import PipelineTesting
import Testing

@Suite("A queue")
struct QueueTests {
    @Test("does what an array does whose first element is removed", arguments: 0..<20 as Range<UInt64>)
    func asAnArray(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (queue, array): (Queue<Int>, [Int]) = ([], [])
        for step in 0..<2000 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                queue.append(step)
                array.append(step)
            case 3:
                let more = 0..<Int.random(in: 0..<20, using: &random)
                queue.append(contentsOf: more)
                array.append(contentsOf: more)
            case 4:
                let divisor = Int.random(in: 2..<9, using: &random)
                queue.removeAll { $0 % divisor == 0 }
                array.removeAll { $0 % divisor == 0 }
            case 5 where !array.isEmpty:
                let place = Int.random(in: array.indices, using: &random)
                queue[place] = -step
                array[place] = -step
            default:
                for _ in 0..<Int.random(in: 0..<12, using: &random) {
                    #expect(queue.popFirst() == (array.isEmpty ? nil : array.removeFirst()))
                }
            }
            #expect(queue.count == array.count && queue.first == array.first && queue.isEmpty == array.isEmpty)
            if step % 50 == 0 { #expect(Array(queue) == array) }
        }
    }

    @Test("keeps nothing that has left it")
    func releasing() {
        final class Token: Sendable {}
        var queue: Queue<Token> = []
        weak var first: Token?
        do {
            let token = Token()
            first = token
            queue.append(token)
            queue.append(Token())
        }
        _ = queue.popFirst()
        #expect(first == nil && queue.count == 1)
    }
}
