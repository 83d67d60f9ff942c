#if SVG
import Pipeline

extension ImageCodec {
    /// SVG by librsvg, read-only, compressed with gzip too. Its library isn't made for hostile files, so it is only decoded
    /// in processes of its own: add it to the codecs that a `DecoderPool` isolates.
    public static let svg = ImageCodec(
        .svg, extensions: ["svg", "svgz"], aliases: ["image/svg"], decoder: ConfinedDecoder(SVGDecoder()),
        negotiation: nil, matches: SVGSignature.matches)
}
#endif
