import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestFixtures
import Testing

@testable import PipelineHTTP

@Suite("The thread of the client", .timeLimit(.minutes(5)))
struct CurlThreadTests {
    @Test("A request and a shutdown at the same time both end, whichever comes first")
    func stopRaces() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "there") }
        let url = origin.url("/")
        for round in 0..<1500 {
            let client = CurlClient(.local)
            // Every other client has its thread already.
            if round.isMultiple(of: 2) { _ = try await client.get(url) }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { _ = try? await client.get(url) } }
                group.addTask { await client.shutdown() }
            }
        }
    }

    @Test("Every command that was accepted before the stop is looked at, and none is accepted after it")
    func mailbox() async throws {
        for _ in 0..<1500 {
            let thread = CurlThread(options: .local)
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    let url = URL(string: "http://127.0.0.1:1/") ?? URL(filePath: "/")
                    guard let target = try? CurlURL(url) else { return }
                    let transfer = CurlTransfer(
                        TransferRequest(url: url), target: target, deadline: nil, thread: thread)
                    _ = try? await transfer.start()
                }
                group.addTask {
                    thread.stop()
                    await thread.ended()
                }
            }
        }
    }

    @Test("A transfer whose cancellation overtakes its start is never sent")
    func cancelledBeforeStart() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "there") }
        let thread = CurlThread(options: .local)
        let request = TransferRequest(url: origin.url("/cancelled"))
        let transfer = CurlTransfer(request, target: try CurlURL(request.url), deadline: nil, thread: thread)
        transfer.cancel()
        _ = thread.post(.start(transfer))
        let next = TransferRequest(url: origin.url("/next"))
        _ = try await CurlTransfer(next, target: CurlURL(next.url), deadline: nil, thread: thread).start()
        thread.stop()
        await thread.ended()
        #expect(origin.log.requests.map(\.path) == ["/next"])
    }

    @Test("Where the system refuses the thread, a request fails with an error, and the next one tries again")
    func refused() async throws {
        let origin = try ScriptedOrigin { _ in .init(body: "there") }
        let client = CurlClient(.local)
        _ = await failure(.refused) {
            try await Pipeline.Thread.$isRefused.withValue(true) { try await client.get(origin.url("/")) }
        }
        #expect(try await client.get(origin.url("/")).body == Array("there".utf8))
        await client.shutdown()
    }
}
