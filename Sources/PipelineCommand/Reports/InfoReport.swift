import Pipeline
import Stages

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
                "exifBytes": metadata?.exifByteCount,
                "xmpBytes": metadata?.xmpByteCount,
                "bytes": metadata?.byteCount,
                "hashes": hashes,
            ], error: error, text())
    }
}
