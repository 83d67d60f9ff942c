extension ScriptedOrigin {
    /// The requests and connections of an origin so far.
    public struct Log: Sendable {
        /// The requests, in the order in which they arrived whole.
        public internal(set) var requests: [Request] = []
        /// How many connections were opened to it; fewer than requests if connections are kept alive.
        public internal(set) var connections = 0
        /// How many of these connections are closed by now, by either side.
        package internal(set) var closedConnections = 0
        /// How many replies were cut short because the client left.
        package internal(set) var abandoned = 0
        /// How many bytes of replies, including fields, the system took for sending.
        package internal(set) var bytesSent = 0
    }
}
