/// A superbox of JUMBF (ISO/IEC 19566-5): a box that begins with its description.
struct JUMBFBox {
    /// Its label; `nil` if it has none.
    let label: String?
    /// The boxes after the description.
    let boxes: ArraySlice<ISOBox>

    /// - Parameter budget: Counts down with each box that is read.
    init?(_ box: ISOBox, budget: inout Int) {
        guard box.type == "jumb", box.isWhole else { return nil }
        let all = ISOBox.boxes(in: box.content, budget: &budget)
        // A type of 16 bytes, then flags, of which one says that a label follows.
        guard let description = all.first, description.type == "jumd",
            let flags = description.content.number(at: 16, bytes: 1)
        else { return nil }
        let text = description.content.dropFirst(17).prefix(256).prefix { $0 != 0 }
        // Labels are URIs or names, in ASCII.
        let isName = flags & 2 != 0 && !text.isEmpty && text.allSatisfy { (0x21...0x7e).contains($0) }
        label = isName ? String(decoding: text, as: UTF8.self) : nil
        boxes = all.dropFirst()
    }
}
