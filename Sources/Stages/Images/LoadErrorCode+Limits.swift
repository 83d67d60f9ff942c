public import Pipeline

extension LoadError.Code {
    /// Decoding the picture needs more memory than is allowed.
    public static let tooMuchMemory = LoadError.Code(rawValue: "tooMuchMemory")
    /// Decoding the picture takes longer than is allowed.
    public static let tooMuchTime = LoadError.Code(rawValue: "tooMuchTime")
}
