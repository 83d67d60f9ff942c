import ArgumentParser

/// A time in seconds, such as `0.5`, or with its unit: `45s`, `90m`, `12h`, `30d` or `2w`.
struct TimeArgument: ExpressibleByArgument {
    let seconds: Double

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument[...] : argument.dropLast()), number >= 0,
            case let seconds = number * (unit ?? 1), seconds <= 1e12
        else { return nil }
        self.seconds = seconds
    }
}
