extension LoadError {
    /// The kind of a failure. The set is open: a stage of your own may name another.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The name that `pipectl --json` prints.
        public let rawValue: String

        /// Names a kind of failure.
        public init(rawValue: String) { self.rawValue = rawValue }

        public var description: String { rawValue }

        /// No cache has it, and the list has no stage that fetches it. Not a failure of the network.
        public static let notCached = Code(rawValue: "notCached")
        /// The size in pixels is negative, or both of its sides are 0.
        public static let invalidSize = Code(rawValue: "invalidSize")
        /// The text is not a URL.
        public static let invalidURL = Code(rawValue: "invalidURL")
        /// The URL's scheme can't be loaded.
        public static let unsupportedScheme = Code(rawValue: "unsupportedScheme")
        /// A header field's name or value can't be sent (RFC 9110 section 5).
        public static let invalidHeader = Code(rawValue: "invalidHeader")
        /// There is no such file.
        public static let fileNotFound = Code(rawValue: "fileNotFound")
        /// The file can't be read.
        public static let fileUnreadable = Code(rawValue: "fileUnreadable")
        /// The origin can't be reached: no such host, no connection, or the connection broke.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The origin took too long.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The origin responded with a status other than 2xx; ``LoadError/httpStatus`` has it.
        public static let httpStatus = Code(rawValue: "httpStatus")
        /// The origin's response breaks HTTP's rules.
        public static let malformedResponse = Code(rawValue: "malformedResponse")
        /// A rule of this program forbids it, such as an address that is not allowed.
        public static let refused = Code(rawValue: "refused")
        /// The file has more bytes than are allowed.
        public static let tooManyBytes = Code(rawValue: "tooManyBytes")
        /// The image has more pixels than are allowed.
        public static let tooManyPixels = Code(rawValue: "tooManyPixels")
        /// The work needs more memory than is allowed.
        public static let tooMuchMemory = Code(rawValue: "tooMuchMemory")
        /// The work takes longer than is allowed.
        public static let tooMuchTime = Code(rawValue: "tooMuchTime")
        /// As much work is running and waiting as is allowed; a server responds with 503 (RFC 9110 section 15.6.4).
        public static let busy = Code(rawValue: "busy")
        /// None of the chosen decoders reads this type of file.
        public static let unsupportedType = Code(rawValue: "unsupportedType")
        /// The bytes are damaged, cut off, or no image at all.
        public static let undecodable = Code(rawValue: "undecodable")
        /// The pixels have a layout that the stage can't read.
        public static let unsupportedLayout = Code(rawValue: "unsupportedLayout")
        /// The output file can't be written.
        public static let unwritable = Code(rawValue: "unwritable")
        /// The image can't be encoded in the wanted format.
        public static let unencodable = Code(rawValue: "unencodable")
        /// A store failed; the load continued without it where it could.
        public static let storeFailed = Code(rawValue: "storeFailed")
        /// The list ended with a product other than the one that the caller asked for.
        public static let unexpectedProduct = Code(rawValue: "unexpectedProduct")
        /// A stage broke its contract, such as moving a load back.
        public static let stageContract = Code(rawValue: "stageContract")
        /// A stage failed with an error of its own; ``LoadError/underlying`` has it.
        public static let stageFailed = Code(rawValue: "stageFailed")
    }
}
