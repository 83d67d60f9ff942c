import PipelineTesting
import Testing

@testable import Pipeline

@Suite("A line with priorities")
struct PriorityLineTests {
    private final class Item {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    /// The same line as a sorted array.
    private struct SortedLine {
        var items: [(item: Item, priority: LoadPriority)] = []

        var first: (item: Item, priority: LoadPriority)? { items.first }

        mutating func enqueue(_ item: Item, _ priority: LoadPriority) {
            items.append((item, priority))
            items.sort { ($1.priority, $0.item.number) < ($0.priority, $1.item.number) }
        }

        mutating func remove(_ item: Item) -> Bool {
            guard let index = items.firstIndex(where: { $0.item === item }) else { return false }
            items.remove(at: index)
            return true
        }

        mutating func move(_ item: Item, to priority: LoadPriority) {
            if remove(item) { enqueue(item, priority) }
        }
    }

    // Expectations can't call what changes a value.
    private func remove(_ item: Item, _ line: inout PriorityLine<Item>) -> Bool { line.remove(item) }

    private func expectEqual(_ line: PriorityLine<Item>, _ model: SortedLine) {
        #expect(line.first?.element === model.first?.item)
        #expect(line.first?.place.priority == model.first?.priority)
        #expect(line.count == model.items.count)
        for priority in LoadPriority.allCases {
            #expect(line.count(priority) == model.items.count { $0.priority == priority })
        }
    }

    @Test("It serves the highest priority first, then first in, first out; a moved object keeps its age")
    func order() {
        var line = PriorityLine<Item>()
        let items = (0..<6).map { Item($0) }
        for (item, priority) in zip(items, [LoadPriority.low, .normal, .high, .normal, .veryLow, .normal]) {
            line.enqueue(item, priority)
        }
        line.move(items[0], to: .normal)
        line.move(items[2], to: .low)
        #expect(line.removeAll().map(\.number) == [0, 1, 3, 5, 2, 4])
        #expect(line.count == 0)
    }

    @Test("Any sequence of operations gives what a sorted array gives", arguments: 0..<50 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (line, model) = (PriorityLine<Item>(), SortedLine())
        var items: [Item] = []
        // Long and short lines, many moves and few.
        let growth = Int.random(in: 1...6, using: &random)
        for number in 0..<600 {
            let priority = LoadPriority.allCases.randomElement(using: &random) ?? .normal
            // Those that have left too.
            let known = items.randomElement(using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<growth:
                items.append(Item(number))
                line.enqueue(items[items.count - 1], priority)
                model.enqueue(items[items.count - 1], priority)
            case 7:
                let popped = line.popFirst()
                #expect(popped === model.first?.item)
                if let popped { _ = model.remove(popped) }
            case 8:
                if let known { #expect(remove(known, &line) == model.remove(known)) }
            default:
                guard let known else { continue }
                line.move(known, to: priority)
                model.move(known, to: priority)
            }
            expectEqual(line, model)
        }
        let rest = line.removeAll()
        #expect(rest.elementsEqual(model.items, by: { $0 === $1.item }))
        #expect(line.first == nil)
    }

    @Test("Lines that share their numbers have comparable places")
    func places() throws {
        var (a, b) = (PriorityLine<Item>(), PriorityLine<Item>())
        a.enqueue(Item(2), .normal, number: 2)
        b.enqueue(Item(1), .normal, number: 1)
        #expect(try #require(a.first).place < #require(b.first).place)
        b.enqueue(Item(3), .high, number: 3)
        a.enqueue(Item(4), .high, number: 4)
        #expect(try #require(a.first).place < #require(b.first).place)
    }

    @Test("An object that comes and goes often leaves nothing behind, at any place of the line")
    func comingAndGoing() {
        var line = PriorityLine<Item>()
        let first = Item(0)
        line.enqueue(first, .high)
        for number in 1...10_000 {
            let item = Item(number)
            line.enqueue(item, .veryLow)
            line.move(item, to: .normal)
            line.remove(item)
            #expect(line.length <= 70)
        }
        #expect(line.first?.element === first)
    }

    @Test("A waiting object is held, and one that has left is not")
    func ownership() {
        var line = PriorityLine<Item>()
        weak var waiting: Item?
        do {
            let item = Item(0)
            waiting = item
            line.enqueue(item, .low)
            line.move(item, to: .high)
        }
        #expect(waiting != nil)
        _ = line.popFirst()
        #expect(waiting == nil)
    }
}
