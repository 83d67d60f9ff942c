/// The right to fetch a source on behalf of all machines, as Redis has granted it.
struct FleetLeaseToken: Sendable, Hashable {
    /// The lease's name, which is made of the source's key.
    let name: String
    /// The number of the grant. Of two grants, the later one has the larger number.
    let number: Int64

    var digits: [UInt8] { Array(String(number).utf8) }
}
