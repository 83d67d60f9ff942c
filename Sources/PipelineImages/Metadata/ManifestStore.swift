/// The box that holds a file's manifests of provenance: a superbox with the label `c2pa` (C2PA 2.1, section 11.1.4).
enum ManifestStore {
    /// Whether bytes begin with a store. The rest of it may be missing.
    static func begins(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        let start = Array(bytes.prefix(64))[...]
        guard start.slice(at: 4, count: 4)?.elementsEqual("jumb".utf8) == true else { return false }
        let header = start.number(at: 0, bytes: 4) == 1 ? 16 : 8
        // The description's header, a type of 16 bytes and the flags come before the label.
        return start.slice(at: header + 4, count: 4)?.elementsEqual("jumd".utf8) == true
            && start.slice(at: header + 25, count: 5)?.elementsEqual("c2pa\0".utf8) == true
    }
}

extension ISOBox {
    /// The store in a box of an AVIF or HEIC, after a version, a purpose and an offset (C2PA 2.1, annex A.5), and whether
    /// it updates that of another box; `nil` if there is none.
    var manifestStore: (bytes: ArraySlice<UInt8>, isUpdate: Bool)? {
        guard type == "uuid", content.starts(with: Self.manifests),
            let end = content.dropFirst(20).prefix(64).firstIndex(of: 0)
        else { return nil }
        let bytes = content[(end + 1)...].dropFirst(8)
        return ManifestStore.begins(bytes) ? (bytes, content[..<end].dropFirst(20).elementsEqual("update".utf8)) : nil
    }

    private static let manifests: [UInt8] = [
        0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
    ]
}
