import Essentials
import Pipeline
import PipelineTesting
import Stages
import TestFixtures

/// A list with a thousand rows over two hundred images, of which twelve are visible: as it scrolls, its twelve cells are
/// used again and again.
actor SimulatedList {
    final class Cell {
        var expected: Int?
        var isAnswered = true
    }

    static let rows = 1000
    static let visible = 12
    /// What a placeholder shows in place of a number.
    static let placeholder = 255

    nonisolated let executor: SeededExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let world: SimulatedWorld
    private let cells: [Cell]
    private let slots: [ImageSlot<Cell>]
    private var top = 0

    init(_ executor: SeededExecutor, _ world: SimulatedWorld, _ loader: ImageLoader) {
        self.executor = executor
        self.world = world
        let cells = (0..<Self.visible).map { _ in Cell() }
        self.cells = cells
        slots = cells.map { cell in
            ImageSlot(cell, loader: loader) { cell, image in
                guard let image else { return }
                let number = Int(image.pixels[0])
                world.note(4, number)
                if number == Self.placeholder {
                    if cell.isAnswered { world.breach("A placeholder came after the response.") }
                } else if cell.expected != number {
                    world.breach("The image of \(number) landed in the cell of \(cell.expected ?? -1).")
                }
            }
        }
    }

    /// The image of a row: neighbours differ, far rows share.
    static func number(_ row: Int) -> Int { row * 37 % 200 }

    /// Shows the rows from `row` on.
    func scroll(to row: Int) {
        let row = max(0, min(Self.rows - Self.visible, row))
        let old = top..<top + Self.visible
        top = row
        for row in row..<row + Self.visible where !old.contains(row) || cells[row % Self.visible].expected == nil {
            set(row % Self.visible, Self.number(row), row.isMultiple(of: 5) ? 3 : 2)
        }
    }

    func scroll(by rows: Int) { scroll(to: top + rows) }

    /// The rows that come next.
    var next: [Int] { (top + Self.visible..<top + Self.visible + 20).filter { $0 < Self.rows } }

    func cancel(_ place: Int) {
        world.inList { slots[place].cancel() }
        cells[place].isAnswered = true
    }

    func reload(_ place: Int) {
        if let number = cells[place].expected { set(place, number, 2) }
    }

    func cancelAll() {
        for place in cells.indices { cancel(place) }
    }

    /// How many cells still wait for a response.
    var unanswered: Int { cells.count { !$0.isAnswered } }

    private func set(_ place: Int, _ number: Int, _ size: Int) {
        let cell = cells[place]
        cell.expected = number
        cell.isAnswered = false
        let options = LoadOptions(maxPixelSize: PixelSize(square: size), expiry: .server(otherwise: .seconds(60)))
        let placeholder = DecodedImage.filled(1, with: [UInt8(Self.placeholder)])
        world.inList { begin(place, number, placeholder, options) }
    }

    private func begin(_ place: Int, _ number: Int, _ placeholder: DecodedImage, _ options: LoadOptions) {
        let cell = cells[place]
        slots[place].set(from: world.url(number), placeholder: placeholder, options: options) { [world] result in
            world.note(5, number)
            if case .failure(is CancellationError) = result {
                world.breach("A load of \(number) was given up for others.")
            }
            if cell.expected != number { world.breach("A superseded load of \(number) called back.") }
            if cell.isAnswered { world.breach("A load of \(number) called back twice, or after it was cancelled.") }
            cell.isAnswered = true
        }
    }
}
