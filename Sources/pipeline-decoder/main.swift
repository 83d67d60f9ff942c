import PipelineIsolation

DecoderWorker.main()
