// What imports PipelineHTTP can use the vocabulary of Pipeline without a further import.
@_exported public import Pipeline
