extension BlockingThreads {
    /// The threads that files are read on: four, since they mostly wait.
    public static let files = BlockingThreads(name: "pipeline-files", count: 4)
}
