import Pipeline
import PipelineFile
import Stages

/// Returns the library's stages and one of our own, which pipelines in YAML can use by name.
func ownCatalog(_ resources: PipelineResources) -> StageCatalog {
    StageCatalog.standard(resources).adding(
        StageSpecification("refuseHost", "Refuses requests to a host.", .required("host", .text)) { host in
            RefuseHost(host: host)
        })
}

/// Reads a pipeline from a file's text.
func pipeline(fromYAML yaml: String, _ resources: PipelineResources) throws -> ImagePipeline {
    let catalog = ownCatalog(resources)
    let pipeline = try PipelineDocument(yaml).pipeline(catalog)
    return pipeline
}
