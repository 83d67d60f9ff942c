public import Logging
import Pipeline

/// Logs the events of loads with swift-log: failures at the level `notice`, all others at `debug`.
///
/// The metadata contains the image (`image`), its key (`image.key`), the stage that failed (`image.stage`), the source of
/// the image (`image.source`) and the load's number (`image.load`). It never contains credentials or query values.
///
/// Wasted work is a notice too: an image that was prefetched in another size than was asked for, and a download that was
/// cancelled after bytes had arrived.
public struct LoadLog: LoadObserver {
    private let logger: Logger

    /// Logs to `logger`.
    public init(_ logger: Logger = Logger(label: "pipeline.loads")) { self.logger = logger }

    /// Logs an event.
    public func observe(_ observation: LoadObservation) {
        logger.log(level: observation.level, observation.line, metadata: observation.metadata)
    }
}

extension LoadObservation {
    fileprivate var level: Logger.Level {
        if case .failed = event { return .notice }
        return isWaste ? .notice : .debug
    }

    private var isWaste: Bool { if case .otherSize = prefetchUse { true } else { wastedBytes > 0 } }

    fileprivate var line: Logger.Message {
        if case .otherSize(let size) = prefetchUse {
            let (prefetched, asked) = (size?.description ?? "its own size", maxPixelSize?.description ?? "its own size")
            return "delivered; prefetched at \(prefetched), asked for \(asked): decoded again"
        }
        if wastedBytes > 0 { return "cancelled after \(wastedBytes) bytes" }
        return switch event {
        case .started: isPrefetch ? "prefetch started" : "load started"
        case .alreadyLoading: "already loading"
        case .cacheHit: "cache hit"
        case .downloadStarted: "download started"
        case .stored: "stored"
        case .cancelled: "cancelled"
        case .failed: "failed"
        case .delivered: "delivered"
        }
    }

    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["image": "\(subject)", "image.load": "\(load)"]
        if let key { metadata["image.key"] = "\(key)" }
        if let stage { metadata["image.stage"] = "\(stage)" }
        switch event {
        case .cacheHit(let source), .stored(let source): metadata["image.source"] = "\(source)"
        case .failed(let error): metadata["error"] = "\(error)"
        case .delivered(let response): metadata["image.source"] = "\(response.source)"
        default: break
        }
        return metadata
    }
}
