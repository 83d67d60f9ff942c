public import Pipeline
import CImages

extension BlockingThreads {
    /// The threads that decode, scale and encode by default, one for each core.
    public static let decoding = BlockingThreads(name: "pixels", threadWillEnd: { cvips_thread_will_end() })
}
