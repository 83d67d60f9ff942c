import Pipeline
import PipelineImages

#if Isolation
import PipelineIsolation
#endif

/// The confined processes in which this run of the command decodes.
enum DecodingProcesses {
    #if Isolation
    /// Started by the first source.
    static let pool = PoolOnDemand(label: Program.name)
    #endif

    /// Decodes formats in confined processes: all of them, or only those that must not be decoded elsewhere.
    /// - Parameters:
    ///   - codecs: The formats of the command. SVG and JPEG XL join them.
    ///   - choice: What the user chose; `nil` for confinement as far as the system allows.
    static func confine(_ codecs: ImageCodecs, choice: Bool?) -> ImageCodecs {
        #if Isolation
        if choice == true { pool.configure(isRequired: true) }
        var list = codecs
        for risky in ImageCodecs.risky.codecs where codecs.codec(for: risky.format) == nil { list = list.adding(risky) }
        for codec in list.codecs where choice != false || codec.needsIsolation {
            list = list.adding(codec.confined(by: pool, mayStay: choice == nil))
        }
        return list
        #else
        return codecs
        #endif
    }

    /// Sets the limits of a verb, before its first decode, and starts the processes while its first source is read.
    static func begin(_ limits: ImageLimits) {
        #if Isolation
        pool.configure(limits: limits)
        if Formats.codecs.codec(for: .jpeg)?.decoder.remote != nil { pool.begin() }
        #endif
    }
}
