/// A stage that depends on which header fields distinguish users.
package protocol CredentialStage {
    /// The fields that its keys include, if the stage identifies loads; otherwise those that the keys of its loads have
    /// to include.
    var credentials: CredentialFields { get }
}
