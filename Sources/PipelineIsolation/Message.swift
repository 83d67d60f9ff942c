import Pipeline

/// A request to a worker or its response: a few numbers. Bytes are in the slabs.
///
/// All messages have the same size, so a message of another size is a fault of the other side.
package struct Message: BitwiseCopyable, Sendable {
    /// How many numbers a message can have.
    static let capacity = 88

    /// The number that a response repeats.
    package var sequence: Int64 = 0
    /// The kind of a request; the result's ``Status`` in a response.
    package var kind: Int64
    /// In a response: how many system calls the filter of its worker has refused so far.
    package var refusedCalls = 0
    /// In a response: the number of the last of these.
    package var lastRefusedCall: Int32 = 0
    /// In a response: how many bytes of the slab it used.
    package var used = 0
    /// In a response: the libraries that the worker lacks for the request, as ``Preparation``.
    package var lacking: UInt64 = 0
    /// In a request: whether the file is the last request's, which the worker still has.
    package var repeatsFile: Bool {
        get { repetition != 0 }
        set { repetition = newValue ? 1 : 0 }
    }
    /// In a request: whether the next one is probably on the same file.
    package var keepsFile: Bool {
        get { keeping != 0 }
        set { keeping = newValue ? 1 : 0 }
    }
    /// In a response: whether the worker mustn't do another request, since an earlier image may be why one fails.
    package var isSpent: Bool {
        get { spending != 0 }
        set { spending = newValue ? 1 : 0 }
    }
    // Numbers: any bits are one, while a Bool that another process wrote may be neither true nor false.
    private var repetition: Int64 = 0
    private var keeping: Int64 = 0
    private var spending: Int64 = 0
    private var count: Int64 = 0
    private var numbers = InlineArray<88, Int64>(repeating: 0)

    package init(kind: Int64) { self.kind = kind }

    /// Adds a number.
    package mutating func append(_ number: Int) {
        guard count < Self.capacity else { return }
        numbers[Int(count)] = Int64(number)
        count += 1
    }

    /// Adds a truth value.
    package mutating func append(_ value: Bool) { append(value ? 1 : 0) }

    /// Reads the numbers in order.
    package var reader: Reader { Reader(message: self) }

    /// Reads a message's numbers in order and checks each against its range.
    package struct Reader {
        fileprivate let message: Message
        private var position = 0

        fileprivate init(message: Message) { self.message = message }

        /// Returns the next number.
        /// - Throws: ``Malformed`` unless it is in the range.
        package mutating func next(in range: ClosedRange<Int>) throws(Malformed) -> Int {
            guard position < message.count, position < Message.capacity else { throw Malformed("a number is missing") }
            let number = Int(message.numbers[position])
            guard range.contains(number) else {
                throw Malformed("number \(position) is \(number) instead of \(range.lowerBound) to \(range.upperBound)")
            }
            position += 1
            return number
        }

        /// Returns the next number as a truth value.
        package mutating func nextBool() throws(Malformed) -> Bool { try next(in: 0...1) == 1 }
    }

    /// A message that breaks the protocol's rules.
    package struct Malformed: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }
}

extension Message {
    /// How a request ended.
    enum Status: Int64 {
        /// With the result that was asked for.
        case done
        /// With a `LoadError`.
        case failed
    }

    /// What is asked of a worker.
    enum Kind: Int64 {
        case header, decode, metadata, description, keptMetadata, stripped
        /// Nothing, and there is no response: another request follows in a moment.
        case wake
    }
}
