// Importing PipelineImages also imports Pipeline.
@_exported public import Pipeline
