import Pipeline
import PipelineFile
import Stages

/// The library's stages and one of our own, as pipelines in YAML may name them.
func ownCatalogue(_ resources: PipelineResources) -> StageCatalogue {
    StageCatalogue.standard(resources).adding(
        StageSpecification("refuseHost", [StageParameter("host", .text, isRequired: true)]) { arguments in
            RefuseHost(host: arguments.text("host") ?? "")
        })
}

/// A pipeline from a file's text.
func pipeline(fromYAML yaml: String, _ resources: PipelineResources) throws -> ImagePipeline {
    let catalogue = ownCatalogue(resources)
    let pipeline = try PipelineDocument(yaml).pipeline(catalogue)
    return pipeline
}
