/// A stage for which it counts by which header fields users are told apart.
package protocol CredentialStage {
    /// The fields that the stage's own keys tell apart, where it identifies loads; otherwise those that the keys of its
    /// loads have to tell apart.
    var credentials: CredentialFields { get }
}
