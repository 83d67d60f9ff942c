// What imports Stages can use what the documentation of Stages uses, without further imports.
@_exported public import Pipeline
@_exported public import PipelineHTTP
@_exported public import PipelineImages
