/// The right to fetch a source on behalf of all machines, as Redis has granted it.
struct FleetLeaseToken: Sendable, Hashable {
    /// The lease's name, which is made of the source's key.
    let name: String
    /// The number of the grant. Of two grants, the later one has the larger number, as long as the server's clock isn't
    /// set back while it loses its data.
    let number: Int64
    /// Random digits of the holder. Even if a number were granted twice, no other holder could pass for this one.
    let mark: String

    /// What Redis holds while the lease is in force.
    var value: [UInt8] { Array("\(number) \(mark)".utf8) }
}
