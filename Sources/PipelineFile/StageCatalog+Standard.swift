import Pipeline
public import Stages

extension StageCatalog {
    /// Returns all stages of the library, which use the given resources.
    public static func standard(_ resources: PipelineResources) -> StageCatalog {
        let (codecs, limits) = (resources.codecs, resources.limits)
        return operations(codecs).adding(
            StageCatalog([
                ResolveIdentifier.specification(resources), MemoryLookup.specification(resources),
                Lookup.specification("lookup", "Looks for a stored response.") { resources.responses },
                Results.specification(resources), Delay.specification,
                ReadInline.specification, ReadFile.specification(byteLimit: limits.encodedBytes),
                Fetch.specification(resources), CheckContentType.specification(codecs),
                CheckHeader.specification(codecs, limits), Decode.specification(codecs, limits, resources.budget),
                KeepDecoded.specification(resources), Downscale.specification, Encode.specification(codecs),
                Store.specification(resources),
                Coalesce.specification(resources), FromLargerVariant.specification(resources),
                ReplaceUndecodable.specification(resources), RefreshStale.specification(resources),
                Lease.specification("lease", "Runs its stages in one process at a time.", among: "process") {
                    resources.responses
                }, StaleIfError.specification, StaleFirst.specification,
                LimitErrors.specification(resources), Preview.specification(codecs, limits), FirstOf.specification,
                Fallback.specification,
                Alternative.specification, Retry.specification, FollowRedirects.specification,
                FollowIdentified.specification, RemoveReplaced.specification(resources),
            ]))
    }

    /// The transforms, which turn pixels into other pixels. `pipectl --ops` knows these. `composite` decodes its
    /// file in this process; see ``operations(_:)``.
    public static let operations = operations(.standard)

    /// Returns the transforms, with the codecs of the files that `composite` lays over pictures: those of the list that
    /// the transforms join, such as `PipelineResources.codecs`.
    public static func operations(_ codecs: ImageCodecs) -> StageCatalog {
        StageCatalog([
            Resize.specification, Crop.specification, Trim.specification, Pad.specification, Rotate.specification,
            Flip.specification, RoundCorners.specification, CropCircle.specification, Blur.specification,
            Sharpen.specification, Grayscale.specification, Adjust.specification, Composite.specification(codecs),
            Flatten.specification,
        ])
    }
}
