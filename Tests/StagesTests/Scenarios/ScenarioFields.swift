import Essentials
import HTTPTypes
import Stages

@testable import PipelineHTTP

/// Fields as scenarios write them: `Name: value`, in which `{-100}` stands for the date 100 s before the story begins.
enum ScenarioFields {
    /// When stories begin.
    static let start = Date(timeIntervalSince1970: 1_700_000_000)

    static func parse(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            guard let name = HTTPField.Name(String(line[..<colon])), colon < line.endIndex else {
                preconditionFailure("\(line) is not a field.")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            fields.append(HTTPField(name: name, lenientValue: Array(dated(value).utf8)))
        }
        return fields
    }

    /// A request as scenarios write it: the path, then the conditions that a cache adds.
    static func describe(_ request: TransferRequest) -> String {
        var text = request.method == .get ? "" : "\(request.method.rawValue) "
        if let host = request.url.host(), host != "example.com" { text += host }
        text += request.url.path()
        for tag in request.headers[values: .ifNoneMatch] { text += " if-none-match \(tag)" }
        for date in request.headers[values: .ifModifiedSince] {
            let seconds = HTTPDate.parse(date, now: start).map { Int($0.timeIntervalSince(start)) }
            text += " if-modified-since {\(seconds.map { "\($0)" } ?? date)}"
        }
        return text
    }

    private static func dated(_ value: Substring) -> String {
        guard let open = value.firstIndex(of: "{"), let close = value.lastIndex(of: "}"),
            let seconds = Double(value[value.index(after: open)..<close])
        else { return String(value) }
        return value[..<open] + HTTPDate.format(start + seconds) + value[value.index(after: close)...]
    }
}
