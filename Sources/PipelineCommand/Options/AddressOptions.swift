import ArgumentParser
import Stages

/// Which addresses may be asked: the same words in every verb that asks.
struct AddressOptions: ParsableArguments {
    @Flag(help: "Refuse addresses that are not public. Those of this machine and its network are not.")
    var publicOnly = false

    /// All, as curl does, unless the flag is set.
    var policy: AddressPolicy { publicOnly ? .publicOnly : .any }
}
