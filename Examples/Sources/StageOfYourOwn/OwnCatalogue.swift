import Pipeline
import PipelineFile
import Stages

/// Returns the library's stages and one of our own, which pipelines in YAML can use by name.
func ownCatalogue(_ resources: PipelineResources) -> StageCatalogue {
    StageCatalogue.standard(resources).adding(
        StageSpecification("refuseHost", [StageParameter("host", .text, isRequired: true)]) { arguments in
            RefuseHost(host: arguments.text("host") ?? "")
        })
}

/// Reads a pipeline from a file's text.
func pipeline(fromYAML yaml: String, _ resources: PipelineResources) throws -> ImagePipeline {
    let catalogue = ownCatalogue(resources)
    let pipeline = try PipelineDocument(yaml).pipeline(catalogue)
    return pipeline
}
