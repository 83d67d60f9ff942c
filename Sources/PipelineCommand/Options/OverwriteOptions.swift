import ArgumentParser

/// The options for files that exist already, shared by all verbs that write.
struct OverwriteOptions: ParsableArguments {
    /// What may be done to a file that exists.
    enum Rule: Sendable { case refuse, skip, overwrite, ifNewer }

    @Flag(name: [.customShort("n"), .long], help: "Skip files that exist, without an error.")
    var noClobber = false

    @Flag(name: [.customShort("y"), .long], help: "Overwrite files that exist. (default: they are an error)")
    var overwrite = false

    @Flag(help: "Overwrite only files older than their source.")
    var newer = false

    func validate() throws {
        if [noClobber, overwrite, newer].filter(\.self).count > 1 {
            throw ValidationError("-n, -y and --newer exclude each other; give one.")
        }
    }

    var rule: Rule { noClobber ? .skip : overwrite ? .overwrite : newer ? .ifNewer : .refuse }
}
