public import Pipeline

#if Vips
import CVips
#endif

extension BlockingThreads {
    /// The threads that decode, scale and encode by default, one for each core.
    public static let decoding = BlockingThreads(name: "pixels", threadWillEnd: willEnd)

    private static let willEnd: @Sendable () -> Void = {
        #if Vips
        cvips_thread_will_end()
        #endif
    }
}
