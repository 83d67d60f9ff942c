import ArgumentParser
import Stages

/// The option for the addresses that may be asked, shared by all verbs that send requests.
struct AddressOptions: ParsableArguments {
    @Flag(help: "Refuse private and local addresses.")
    var publicOnly = false

    /// All, as curl does, unless the flag is set.
    var policy: AddressPolicy { publicOnly ? .publicOnly : .any }
}
