import Pipeline

extension ImageCodec {
    /// JPEG by libjpeg-turbo.
    public static let jpeg = ImageCodec(
        .jpeg, extensions: ["jpg", "jpeg", "jpe", "jfif", "mpo"], aliases: ["image/jpg", "image/pjpeg"],
        decoder: JPEGDecoder(), encoder: JPEGEncoder(),
        negotiation: Negotiation(rank: 2, needsName: false, holdsMotion: false)
    ) { $0.starts(with: [0xff, 0xd8, 0xff]) }
}
