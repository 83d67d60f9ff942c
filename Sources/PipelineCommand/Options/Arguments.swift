public import ArgumentParser
import LibC
public import Pipeline
import Stages

extension PixelSize: ExpressibleByArgument {
    /// Reads `640` as a square box, `640x480` as it stands, and `640x`, `640x0`, `x480` or `0x480` as a box with one side
    /// of any length.
    public init?(argument: String) {
        let sides = argument.lowercased().split(separator: "x", omittingEmptySubsequences: false)
        // "x" alone names no length.
        guard (1...2).contains(sides.count), sides.contains(where: { !$0.isEmpty }) else { return nil }
        let lengths = sides.map { $0.isEmpty ? 0 : Int($0) }
        guard let width = lengths[0], let height = lengths[lengths.count - 1],
            0...1_000_000 ~= width, 0...1_000_000 ~= height, width > 0 || height > 0
        else { return nil }
        self.init(width: width, height: height)
    }
}

/// How many frames of an animation are kept: `all`, or a number of the first ones.
struct FramesArgument: ExpressibleByArgument, Sendable {
    /// How many frames are decoded at most.
    let most: Int

    /// More than any honest animation has.
    static let all = 10_000

    init?(argument: String) {
        guard let most = argument == "all" ? Self.all : Int(argument), 1...Self.all ~= most else { return nil }
        self.most = most
    }
}

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

/// One of several parts of a list, such as `2/8`: each machine takes its own without coordination.
struct ShardArgument: ExpressibleByArgument, Sendable {
    let number: Int
    let count: Int

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1], count >= 1, 1...count ~= number,
            count <= 100_000
        else { return nil }
        self.number = number
        self.count = count
    }

    /// Whether an input is in this part. Only its name decides, so added or removed files don't move others.
    func contains(_ input: String) -> Bool {
        let word = BLAKE2bDigest(of: input).bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(word % UInt64(count)) == number - 1
    }
}

/// Several values of one option, separated by commas.
struct CommaList<Value: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    let values: [Value]

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        values = parts.compactMap { Value(argument: String($0)) }
        guard values.count == parts.count else { return nil }
    }
}

/// A format that can be written, by its extension or name.
struct WritableFormat: ExpressibleByArgument, Sendable, Hashable {
    let format: ImageFormat

    init?(argument: String) {
        guard let codec = Formats.codecs.codec(forExtension: argument), codec.encoder != nil else { return nil }
        format = codec.format
    }
}

extension String {
    /// Whether it has the mark between a scheme and a host. Lists have millions of rows, so only bytes are compared.
    var hasScheme: Bool { holds("://") }

    /// Whether it has these ASCII characters somewhere.
    func holds(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            guard let first = text.first else { return true }
            var rest = Substring(self).utf8
            while let start = rest.firstIndex(of: first) {
                rest = rest[start...]
                if rest.starts(with: text) { return true }
                rest.removeFirst()
            }
            return false
        }
    }
}

extension NameSpecification {
    /// A letter, whose value may follow it without a space, and a long name; by default the property's.
    static func letter(_ letter: Character, _ name: String? = nil) -> NameSpecification {
        [.customShort(letter, allowingJoined: true), name.map { .customLong($0) } ?? .long]
    }
}

extension CommandConfiguration {
    /// Describes a verb.
    init(_ name: String, _ abstract: String, _ discussion: String) {
        self.init(commandName: name, abstract: abstract, discussion: discussion)
    }
}

extension ParsableArguments {
    /// Checks the range of a number.
    func check(_ name: String, _ number: Int?, _ range: ClosedRange<Int>) throws {
        guard let number, !range.contains(number) else { return }
        throw ValidationError("\(name) takes \(range.lowerBound) to \(range.upperBound), not \(number).")
    }
}

extension ImageSource {
    /// Reads a source named on the command line or in a list of inputs. An existing file is a file, even one in a folder
    /// whose name looks like a host.
    init(argument text: String) throws(LoadError) {
        do {
            self = try ImageSource(parsing: text)
        } catch {
            guard error.code == .invalidURL, !text.utf8.contains(0), text.withPath({ access($0, F_OK) }) == 0 else {
                throw error
            }
            self = .file(text)
        }
    }
}
