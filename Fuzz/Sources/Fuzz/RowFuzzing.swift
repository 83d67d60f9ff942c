import HTTPTypes
@testable import Pipeline

@testable import PipelineHTTP
@testable import PipelineImages
@testable import Stages

/// Decodes rows of a damaged or forged database.
enum RowFuzzing {
    static func decode(_ bytes: [UInt8]) {
        if let fields = StoredFields.decode(bytes) {
            precondition(StoredFields.decode(StoredFields.encode(fields)) == fields, "fields don't come back")
        }
        if let selecting = SelectingFields(encoded: bytes) {
            precondition(SelectingFields(encoded: selecting.encoded) == selecting, "selecting fields don't come back")
            _ = selecting.match([.accept: "image/*"], of: .several)
        }
        var sum = BodyChecksum()
        let whole = bytes.count & ~63
        bytes.withUnsafeBytes {
            sum.update(UnsafeRawBufferPointer(rebasing: $0[..<whole]))
            sum.update(UnsafeRawBufferPointer(rebasing: $0[whole...]))
        }
        precondition(sum.value == BodyChecksum(of: bytes).value, "a body in parts has another sum")
    }
}
