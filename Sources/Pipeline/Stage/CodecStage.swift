/// The formats that stages read and write, as far as the engine knows them.
package protocol CodecSet: Sendable {
    /// Whether every file is decoded in a confined process; `nil` for a set without formats.
    var isConfined: Bool? { get }
}

/// A stage that reads or writes formats. All such stages of a list use one set of codecs, so that a list whose files are
/// decoded in confined processes decodes none in this one.
package protocol CodecStage: Stage {
    /// The codecs that the stage was made with; `nil` for those of the list, which it takes from the load.
    var ownCodecs: (any CodecSet)? { get }

    /// Tells the stage the list's codecs when the list is built. By default it does nothing.
    mutating func use(_ codecs: (any CodecSet)?)
}

extension CodecStage {
    package mutating func use(_ codecs: (any CodecSet)?) {}
}

/// The codecs of a list or of a loader, as its loads carry them.
package final class ListCodecs: Sendable {
    package let set: any CodecSet
    /// Read for each load, so it is found out once.
    let isConfined: Bool?

    package init(_ set: any CodecSet) {
        self.set = set
        isConfined = set.isConfined
    }
}

extension Chain {
    /// The codecs of the list: the first that a stage was made with; `nil` if none names any.
    var codecs: (any CodecSet)? { firstCodecs?.set }

    /// These codecs, and the name of their stage.
    var firstCodecs: (stage: String, set: any CodecSet)? {
        for slot in slots {
            if let own = (slot.stage as? any CodecStage)?.ownCodecs { return (slot.name, own) }
            if let found = (slot.stage as? any CompositeStage)?.body.firstCodecs { return found }
        }
        return nil
    }

    /// Returns the list with every stage told its codecs.
    func using(_ codecs: (any CodecSet)?) -> Chain {
        Chain(
            elements.map { element in
                var element = element
                if var composite = element.stage as? any CompositeStage {
                    composite.body = composite.body.using(codecs)
                    element.stage = composite
                }
                if var user = element.stage as? any CodecStage {
                    user.use(codecs)
                    element.stage = user
                }
                return element
            })
    }

    /// What is wrong with a list that decodes both in confined processes and in this one.
    static func mixture(confined: String, plain: String) -> String {
        "\(confined) decodes in confined processes, and \(plain) has codecs that decode in this one: a list has one set "
            + "of codecs. Leave out the codecs of \(plain), which then uses those of the list, or give it the same."
    }
}

extension ImagePipeline {
    /// Returns the list of a loader with these codecs, which stages use that were made without any. If the list names
    /// codecs of its own, and only one of the two is confined, every load fails.
    package func inLoader(with codecs: ListCodecs) -> ImagePipeline {
        guard problem == nil else { return self }
        if let mixture = mixture(with: codecs) { return failing(with: mixture) }
        return self.codecs == nil ? with(codecs) : self
    }

    /// What is wrong if a loader with these codecs runs the list.
    func mixture(with codecs: ListCodecs) -> String? {
        guard let own = self.codecs?.isConfined, let theirs = codecs.isConfined, own != theirs else { return nil }
        let stage = chain.firstCodecs?.stage ?? "The list"
        return own
            ? "\(stage) decodes in confined processes, and the loader in this one. Give PipelineResources the same codecs."
            : "The loader decodes in confined processes, and \(stage) has codecs that decode in this one. Leave these out, "
                + "so that the loader's are used."
    }
}
