// Code that imports Stages can use the types in its documentation without further imports.
@_exported public import Pipeline
@_exported public import PipelineHTTP
@_exported public import PipelineImages
