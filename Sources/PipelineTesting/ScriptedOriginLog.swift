extension ScriptedOrigin {
    /// What an origin has seen and done.
    public struct Log: Sendable {
        /// The requests, in the order in which they arrived whole.
        public internal(set) var requests: [Request] = []
        /// How many connections were opened to it; fewer than requests where connections are kept alive.
        public internal(set) var connections = 0
        /// How many of these connections are closed by now, by either side.
        package internal(set) var closedConnections = 0
        /// How many replies were not taken whole, because the client left.
        package internal(set) var abandoned = 0
        /// How many bytes of replies, fields included, the system took for sending.
        package internal(set) var bytesSent = 0
    }
}
