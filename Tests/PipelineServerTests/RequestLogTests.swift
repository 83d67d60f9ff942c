import Foundation
import Pipeline
import Synchronization
import Testing

@testable import PipelineServer

@Suite("The log of requests")
struct RequestLogTests {
    @Test("A request has one line in the log, as JSON, with the trace that it belongs to")
    func log() async throws {
        let lines = Mutex<[String]>([])
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for level in RequestLog.Level.allCases {
            let log = RequestLog(level) { line in lines.withLock { $0.append(line) } }
            for status in [200, 503] {
                log.add(status: status) {
                    RequestLog.Entry(
                        id: RequestID(parent: parent), method: "GET", path: "/a\"\n", status: status, bytes: 5,
                        time: .milliseconds(2), client: "::1", tenant: nil, note: nil)
                }
            }
            await log.flush()
        }
        // What a fallback hides is an error all the same.
        let errors = RequestLog(.errors) { line in lines.withLock { $0.append(line) } }
        errors.add(status: 200, isFallback: true) {
            RequestLog.Entry(
                id: RequestID(parent: parent), method: "GET", path: "/a\"\n", status: 200, bytes: 5,
                time: .milliseconds(2), client: "::1", tenant: "shop", note: "fallback")
        }
        await errors.flush()
        #expect(lines.withLock { $0.last?.contains("\"tenant\":\"shop\"") } == true)
        let all = lines.withLock { $0 }
        #expect(all.count == 4)
        for line in all {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(object["trace"] as? String == "0af7651916cd43dd8448eb211c80319c")
            #expect(object["path"] as? String == "/a\"\n")
            // Without the zone a reader takes it for its own (RFC 3339 section 4.4).
            #expect((object["time"] as? String)?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/) != nil)
        }
        for wrong in [
            "", "00-x", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        ] {
            #expect(RequestID(parent: wrong).trace != "0af7651916cd43dd8448eb211c80319c")
            #expect(RequestID(parent: wrong).trace.utf8.count == 32)
        }
    }
}
