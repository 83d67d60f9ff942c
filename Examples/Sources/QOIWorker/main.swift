import PipelineIsolation
import QOI

DecoderWorker.main(codecs: DecoderWorker.codecs.adding(.qoi))
