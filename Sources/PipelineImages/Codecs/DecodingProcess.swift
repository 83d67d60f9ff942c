import CImages
import LibC
import Pipeline
import Synchronization

#if Vips
import CVips
#endif

/// A process that was started for decoding alone.
///
/// Its libraries are opened before it loses its access to files: libvips, of which most files need nothing, and what a
/// format needs. What is missing then is noted, so that the program can use a process that has it.
package enum DecodingProcess {
    private static let flag = Atomic<Bool>(false)

    /// Whether this process is one. Set once, as the process starts.
    package static var isCurrent: Bool {
        get { flag.load(ordering: .relaxed) }
        set { flag.store(newValue, ordering: .relaxed) }
    }

    /// What libvips counts as in ``lacking``; every other library counts as all bits.
    package static let vips = UInt64(1) << 63

    /// Opens libvips, which converts complex profiles and inks, and decodes rare files of PNG.
    package static func openVips() {
        #if Vips
        var failure = cvips_failure()
        _ = cvips_is_available(&failure)
        #endif
    }

    /// Reads what decoders of several formats use: the time zone, for LittleCMS, and the number of processors.
    package static func prepare() {
        tzset()
        _ = BlockingThreads.decoding
    }

    /// Opens no library from now on.
    package static func seal() { clibrary_seal() }

    /// The libraries that were needed since ``seal()`` and aren't there.
    package static var lacking: UInt64 { clibrary_lacking() }
}

/// A decoder that a process for decoding prepares when the first file of its format comes. Others are prepared as the
/// process starts.
package protocol PreparedOnDemand: ImageDecoding {}
