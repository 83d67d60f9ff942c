/// The formats that stages read and write, as far as the engine knows them.
package protocol CodecSet: Sendable {
    /// Whether every file is decoded in a confined process; `nil` for a set without formats.
    var isConfined: Bool? { get }

    /// Returns the set with the decoders of another set, which are confined, for the formats that both have.
    func confined(like other: any CodecSet) -> any CodecSet
}

/// A stage that reads or writes formats. All such stages of a list use one set of codecs, so that a list whose files are
/// decoded in confined processes decodes none in this one.
package protocol CodecStage: Stage {
    /// The codecs that the stage was made with; `nil` for those of the list, which it takes from the load.
    var ownCodecs: (any CodecSet)? { get }

    /// Whether the stage decodes files; `true` by default. Others look at their formats, or encode.
    var decodes: Bool { get }

    /// Tells the stage the list's codecs when the list is built. By default it does nothing.
    mutating func use(_ codecs: (any CodecSet)?)
}

extension CodecStage {
    package var decodes: Bool { true }
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

    /// Returns the same formats with a loader's decoders, if those are confined and these aren't.
    func confined(like other: ListCodecs) -> ListCodecs {
        guard isConfined == false, other.isConfined == true else { return self }
        return ListCodecs(set.confined(like: other.set))
    }
}

extension Chain {
    /// The codecs of the list: the first that a stage was made with, and rather one that decodes; `nil` if none names any.
    var codecs: (any CodecSet)? { (firstCodecs(where: \.decodes) ?? firstCodecs { _ in true })?.set }

    /// The first codecs that a stage of some kind was made with, and the name of the stage.
    func firstCodecs(where isMeant: (any CodecStage) -> Bool) -> (stage: String, set: any CodecSet)? {
        for slot in slots {
            if let user = slot.stage as? any CodecStage, isMeant(user), let own = user.ownCodecs {
                return (slot.name, own)
            }
            if let found = (slot.stage as? any CompositeStage)?.body.firstCodecs(where: isMeant) { return found }
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
    /// Returns the list of a loader with these codecs, which stages use that were made without any. If a stage of the
    /// list decodes by codecs of its own, and only one of the two is confined, every load fails.
    package func inLoader(with codecs: ListCodecs) -> ImagePipeline {
        guard problem == nil else { return self }
        if let mixture = mixture(with: codecs) { return failing(with: mixture) }
        let used = used(in: codecs)
        return used === self.codecs ? self : with(used)
    }

    /// The codecs of the list's loads in a loader with these.
    func used(in codecs: ListCodecs) -> ListCodecs {
        guard let own = self.codecs else { return codecs }
        return decoding == nil ? own.confined(like: codecs) : own
    }

    /// What is wrong if a loader with these codecs runs the list.
    func mixture(with codecs: ListCodecs) -> String? {
        guard let own = decoding, let theirs = codecs.isConfined, own.isConfined != theirs else { return nil }
        return own.isConfined
            ? "\(own.stage) decodes in confined processes, and the loader in this one. Give PipelineResources the same "
                + "codecs."
            : "The loader decodes in confined processes, and \(own.stage) has codecs that decode in this one. Leave these "
                + "out, so that the loader's are used, or give PipelineResources isolation: .none."
    }
}
