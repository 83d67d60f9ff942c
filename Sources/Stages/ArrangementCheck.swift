import Pipeline

extension CachePolicy {
    /// The policies without delays, and their names.
    private static let undelayed: [(name: String, policy: CachePolicy)] = [
        ("returnCacheElseLoad", .returnCacheElseLoad()), ("returnCacheDontLoad", .returnCacheDontLoad()),
        ("offline", .offline), ("ignoreCache", .ignoreCache()), ("useProtocol", .useProtocol),
        ("storeOnDisk", .storeOnDisk),
    ]

    /// Throws if an arrangement gives any policy a list that can't run, or edits it where there is no place.
    /// - Parameter policy: The loader's default, which may have delays.
    static func check(
        _ arrangement: ImageLoader.Arrangement, _ resources: PipelineResources, besides policy: CachePolicy
    ) throws(LoadError) {
        var policies = undelayed
        if !policies.contains(where: { $0.policy == policy }) { policies.append(("\(policy)", policy)) }
        let codecs = ListCodecs(resources.codecs)
        var misplaced: [(edit: String, policies: [String])] = []
        for (name, policy) in policies {
            let list = arrangement(policy, resources).inLoader(with: codecs)
            for edit in list.misplacedEdits {
                if let index = misplaced.firstIndex(where: { $0.edit == edit }) {
                    misplaced[index].policies.append(name)
                } else {
                    misplaced.append((edit, [name]))
                }
            }
            if list.misplacedEdits.isEmpty, let problem = list.problem {
                throw LoadError(.stageContract, subject: "", "The list of \(name): \(problem)")
            }
        }
        guard !misplaced.isEmpty else { return }
        let edits = misplaced.map { "\($0.edit) finds no place in \($0.policies.joined(separator: ", ")). " }
        throw LoadError(
            .stageContract, subject: "",
            edits.joined()
                + "Name a stage that each list has, or a place such as .beforeOrigin, or say where: .present "
                + "if only some lists are meant.")
    }
}
