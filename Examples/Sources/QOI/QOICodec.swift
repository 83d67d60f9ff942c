import Stages

extension ImageFormat {
    /// The Quite OK Image Format (qoiformat.org).
    public static let qoi = ImageFormat(rawValue: "image/qoi")
}

extension ImageCodec {
    /// QOI, a format from outside the library. Add this constant to the codecs to use it in stages, pipeline files and
    /// the command.
    public static let qoi = ImageCodec(
        .qoi, extensions: ["qoi"], aliases: ["image/x-qoi"], decoder: QOIDecoder(), encoder: QOIEncoder()
    ) { $0.starts(with: "qoif".utf8) }
}
