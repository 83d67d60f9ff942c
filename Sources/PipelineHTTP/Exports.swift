// Files that import PipelineHTTP can use Pipeline without importing it too.
@_exported public import Pipeline
