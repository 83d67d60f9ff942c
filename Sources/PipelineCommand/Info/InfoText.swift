import Essentials
import Pipeline
import Stages

extension ImageMetadata.Location {
    /// Latitude and longitude in degrees, to about a metre, as maps take them.
    var text: String {
        [latitude, longitude].map { "\(($0 * 100_000).rounded() / 100_000)" }.joined(separator: ",")
    }
}

extension ImageMetadata.Provenance {
    /// The label of the active manifest.
    fileprivate var name: String { label ?? (byteCount > 0 ? "unnamed" : "remote") }
}

extension ImageMetadata {
    /// What a file says about its image, for people.
    func text(_ input: String) -> String {
        var parts = ["\(size)", format.name, ByteCount.text(byteCount)]
        parts.append("\(bitsPerChannel) bits \(colors.rawValue)\(hasAlpha ? " with alpha" : "")")
        if frames > 1 { parts.append("\(frames) frames") }
        if orientation != .up { parts.append("stored turned (orientation \(orientation.rawValue))") }
        if let profile { parts.append("profile \(printable(profile.name ?? "unnamed"))") }
        if let profile, !profile.isSRGB, colorSpaceName != profile.name {
            parts.append("colours of \(printable(colorSpaceName))")
        }
        if let codedColors { parts.append("coded as \(codedColors)") }
        if let gainMap { parts.append(gainMap.text) }
        if let mastering { parts += mastering.texts }
        if let capturedAt { parts.append("taken \(printable(capturedAt))") }
        parts += [camera, lens].compactMap { $0.map { printable($0) } }
        if let location { parts.append("GPS position \(location.text)") }
        if let provenance {
            if provenance.byteCount > 0 {
                let label = provenance.label.map { " \(printable($0))" } ?? ""
                let count = provenance.manifests > 1 ? ", the last of \(provenance.manifests)" : ""
                parts.append("C2PA manifest\(label)\(count) (\(ByteCount.text(provenance.byteCount)))")
            }
            if let url = provenance.url { parts.append("C2PA manifest at \(printable(url))") }
        }
        return "\(Job(reading: input).shown): \(parts.joined(separator: ", "))"
    }
}

extension GainMapDescription {
    /// The facts of a gain map, for people.
    fileprivate var text: String {
        guard let parameters else {
            return "unreadable gain map (\(standard.rawValue): \(printable(fault ?? "damaged")))"
        }
        let channels = channelCount.map { ", \($0) channel\($0 == 1 ? "" : "s")" } ?? ""
        let headrooms = [parameters.baseHeadroom, parameters.alternateHeadroom].map { "\(($0 * 100).rounded() / 100)" }
        return "HDR gain map (\(standard.rawValue)\(size.map { ", \($0)" } ?? "")\(channels), headroom "
            + "\(headrooms.joined(separator: " to ")) stops)"
    }

    /// The facts of a gain map, with a number for each channel.
    fileprivate var report: Report {
        let channels = parameters?.channels
        return Report([
            "standard": standard.rawValue, "width": size?.width, "height": size?.height, "channels": channelCount,
            "baseHeadroom": parameters?.baseHeadroom, "alternateHeadroom": parameters?.alternateHeadroom,
            "baseIsHDR": parameters?.isBaseHDR, "usesBaseColourSpace": parameters?.usesBaseColorSpace,
            "minimum": channels?.map(\.minimum), "maximum": channels?.map(\.maximum), "gamma": channels?.map(\.gamma),
            "baseOffset": channels?.map(\.baseOffset), "alternateOffset": channels?.map(\.alternateOffset),
            "unreadable": fault,
        ])
    }
}

extension MasteringMetadata {
    fileprivate var texts: [String] {
        let light = maximumContentLight.map { "brightest light \($0) cd/m²" }
        let display = display.map { "mastered at \($0.minimumLuminance) to \($0.maximumLuminance) cd/m²" }
        return [light, display].compactMap(\.self)
    }

    fileprivate var report: Report {
        func place(_ place: Display.Place?) -> [Double]? { place.map { [$0.x, $0.y] } }
        return Report([
            "maximumContentLight": maximumContentLight, "maximumFrameAverageLight": maximumFrameAverageLight,
            "minimumLuminance": display?.minimumLuminance, "maximumLuminance": display?.maximumLuminance,
            "red": place(display?.red), "green": place(display?.green), "blue": place(display?.blue),
            "white": place(display?.white),
        ])
    }
}

/// A field that `info -F` can print.
enum InfoField: String, CaseIterable, Sendable {
    case path, name, w, h, format, orientation, frames, alpha, bits, colours, space, curve, hdr, profile, primaries,
        transfer, captured, camera, lens, gps, provenance, bytes

    /// The field's text; empty where the file says nothing.
    func text(_ input: String, _ metadata: ImageMetadata) -> String {
        switch self {
        case .path: printable(input)
        case .name: printable(OutputName(input, index: 1).name)
        case .w: "\(metadata.size.width)"
        case .h: "\(metadata.size.height)"
        case .format: metadata.format.name
        case .orientation: "\(metadata.orientation.rawValue)"
        case .frames: "\(metadata.frames)"
        case .alpha: "\(metadata.hasAlpha)"
        case .bits: "\(metadata.bitsPerChannel)"
        case .colours: metadata.colors.rawValue
        case .space: printable(metadata.colorSpaceName)
        case .curve: metadata.transferName ?? ""
        case .hdr: metadata.dynamicRange.rawValue
        case .profile: printable(metadata.profile.map { $0.name ?? "unnamed" } ?? "")
        case .primaries: metadata.codedColors?.primariesName ?? ""
        case .transfer: metadata.codedColors?.transferName ?? ""
        case .captured: printable(metadata.capturedAt ?? "")
        case .camera: printable(metadata.camera ?? "")
        case .lens: printable(metadata.lens ?? "")
        case .gps: metadata.location?.text ?? ""
        case .provenance: printable(metadata.provenance?.name ?? "")
        case .bytes: "\(metadata.byteCount)"
        }
    }
}

extension Report {
    /// Reports what a file says about its image.
    init(
        info input: String, _ metadata: ImageMetadata?, _ hashes: ImageHashes? = nil, error: LoadError? = nil,
        _ text: @autoclosure @escaping () -> String? = nil
    ) {
        self.init(
            [
                "input": input,
                "format": metadata?.format.rawValue,
                "width": metadata?.size.width,
                "height": metadata?.size.height,
                "storedWidth": metadata?.storedSize.width,
                "storedHeight": metadata?.storedSize.height,
                "orientation": metadata?.orientation.rawValue,
                "frames": metadata?.frames,
                "loopCount": metadata?.loopCount,
                "alpha": metadata?.hasAlpha,
                "bits": metadata?.bitsPerChannel,
                "colours": metadata?.colors.rawValue,
                "colourSpace": metadata?.colorSpaceName,
                "transferFunction": metadata?.transferName,
                "hdr": metadata?.dynamicRange.rawValue,
                "gainMap": metadata?.gainMap?.report,
                "mastering": metadata?.mastering?.report,
                "profile": metadata?.profile.map { $0.name ?? "unnamed" },
                "primaries": metadata?.codedColors?.primaries,
                "transfer": metadata?.codedColors?.transfer,
                "matrix": metadata?.codedColors?.matrix,
                "fullRange": metadata?.codedColors?.isFullRange,
                "captured": metadata?.capturedAt,
                "camera": metadata?.camera,
                "lens": metadata?.lens,
                "latitude": metadata?.location?.latitude,
                "longitude": metadata?.location?.longitude,
                "provenance": metadata?.provenance?.name,
                "provenanceBytes": metadata?.provenance?.byteCount,
                "provenanceManifests": metadata?.provenance?.manifests,
                "provenanceURL": metadata?.provenance?.url,
                "exifBytes": metadata?.exifByteCount,
                "xmpBytes": metadata?.xmpByteCount,
                "bytes": metadata?.byteCount,
                "hashes": hashes?.report,
            ], error: error, text())
    }
}

/// The hashes and colours that `info --hash` prints.
struct ImageHashes: Sendable {
    /// In base64.
    private let thumbHash: String
    private let blurHash: String
    /// The difference hash, in hexadecimal digits.
    private let dHash: String
    private let colours: [(colour: String, share: Double)]

    /// Decodes a file, no larger than the hashes need it, and calculates them.
    /// - Parameter time: What earlier work on the file has used of the limit of time.
    init(of bytes: [UInt8], _ limits: ImageLimits, after time: Duration) async throws {
        let pipeline = ImagePipeline {
            ContinueTime(time)
            ReadInline()
            Decode(codecs: Formats.codecs, limits: limits)
            Resize(PixelSize(width: 256, height: 256))
        }
        guard let image = try await pipeline.load(ImageRequest(.bytes(bytes))).image else {
            throw LoadError(.unexpectedProduct, subject: "", "The pipeline ends without pixels.")
        }
        thumbHash = Data(try await image.thumbHash()).base64EncodedString()
        blurHash = try await image.blurHash()
        let bits = String(try await image.differenceHash(), radix: 16)
        dHash = String(repeating: "0", count: 16 - bits.count) + bits
        colours = try await image.dominantColors().map {
            ("\($0.color)", ($0.share * 1000).rounded() / 1000)
        }
    }

    var report: Report {
        Report([
            "thumbHash": thumbHash, "blurHash": blurHash, "dHash": dHash,
            "colours": colours.map { Report(["colour": $0.colour, "share": $0.share]) },
        ])
    }

    /// A line for each, indented below the file's.
    var text: String {
        let shares = colours.map { "\($0.colour) \(OneDecimal.text($0.share * 100)) %" }.joined(separator: ", ")
        return "  ThumbHash \(thumbHash)\n  BlurHash \(blurHash)\n  dHash \(dHash)\n  colours \(shares)"
    }
}
