import Foundation
import PipelineImages
import PipelineIsolation

// A helper that starts a thread too early.
if (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))?.hasSuffix("/threaded") == true {
    Thread.detachNewThread { while true { pause() } }
}

switch CommandLine.arguments.dropFirst().first {
case "hold": Trial.hold()
case "kills": Trial.kills(Array(CommandLine.arguments.dropFirst(2)))
case "confinement": Trial.confinement(Array(CommandLine.arguments.dropFirst(2)))
case "hostile": Trial.hostile(Array(CommandLine.arguments.dropFirst(2)))
default: break
}

DecoderWorker.main(
    codecs: DecoderWorker.codecs.adding(
        ImageCodec(EscapingDecoder.format, extensions: ["escape"], decoder: EscapingDecoder()) {
            $0.starts(with: "escape ".utf8)
        }))
