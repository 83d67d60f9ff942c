import HTTPTypes
import Stages

extension HTTPFields {
    /// The fields in their order, each byte of a value as a code point (ISO-8859-1).
    var pairs: [[String]] { map { [$0.name.rawName, $0.latin1] } }
}
