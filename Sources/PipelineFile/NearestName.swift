/// Finds the right name that is nearest to a wrong one.
package enum NearestName {
    /// A name without its case, hyphens and underscores, in British spelling: `round-corners` is `roundCorners`, and `color`
    /// is `color`.
    package static func folded(_ name: String) -> String {
        let letters = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return [("color", "colour"), ("gray", "grey"), ("center", "centre")].reduce(letters) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// The first item with a name, however that is written; `nil` if there is none.
    package static func exact<Item>(_ name: String, in items: [Item], by nameOf: (Item) -> String) -> Item? {
        let wanted = folded(name)
        return items.first { folded(nameOf($0)) == wanted }
    }

    /// The nearest of some names; `nil` if none is near.
    package static func of(_ name: String, among names: [String]) -> String? {
        let wrong = Array(folded(name).utf8)
        let ranked = names.map { ($0, distance(wrong, Array(folded($0).utf8))) }
        guard let nearest = ranked.min(by: { $0.1 < $1.1 }), nearest.1 <= max(2, wrong.count / 3) else { return nil }
        return nearest.0
    }

    /// How many letters have to be inserted, removed or replaced (Levenshtein).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let exchanged = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(exchanged, row[column] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
