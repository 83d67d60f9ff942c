import CCurl
import Essentials
import Pipeline
import Testing

@testable import PipelineHTTP

@Suite("The time limits of a transfer")
final class CurlRunTests {
    private let multi: UnsafeMutableRawPointer
    private let transfer: CurlTransfer
    private let run: CurlRun
    private let loop: CurlLoop
    private let start: Duration

    init() throws {
        let url = try #require(URL(string: "http://127.0.0.1/"))
        let options = CurlClient.Options(addresses: .any)
        transfer = CurlTransfer(
            TransferRequest(url: url), target: try CurlURL(url), deadline: nil, thread: CurlThread(options: options))
        multi = try #require(curl_multi_init())
        loop = CurlLoop(multi: multi, options: options)
        start = SystemClock().uptime
        run = CurlRun(transfer, easy: try #require(CurlEasy()), options: options, loop: loop)
    }

    deinit { curl_multi_cleanup(multi) }

    @Test("A transfer that libcurl doesn't take fails at once")
    func notTaken() async throws {
        // libcurl knows its own by a number, which memory of zeros doesn't hold.
        let zeros = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0, count: 4096)
        let loop = CurlLoop(multi: zeros, options: CurlClient.Options(addresses: .any))
        loop.enqueue(transfer)
        await #expect(throws: LoadError.self) { try await transfer.next() }
    }

    @Test("Silence is a stall from the stall's time on, once there is a connection")
    func stall() {
        #expect(run.lateness(at: start + .seconds(11)).error == nil, "libcurl itself watches the time to connect")
        #expect(run.mayAsk(Address("127.0.0.1")))
        #expect(run.lateness(at: start + .seconds(9)).error == nil)
        #expect(run.lateness(at: start + .seconds(11)).error?.code == .timedOut)
    }

    @Test("A transfer that waits for its reader is not stalled, and its time restarts when it continues")
    func slowReader() async throws {
        #expect(run.mayAsk(Address("127.0.0.1")))
        let bytes = [UInt8](repeating: 1, count: CurlTransfer.maximumUnread)
        #expect(bytes.withUnsafeBufferPointer { run.takeBody($0) } == .taken)
        #expect(bytes.withUnsafeBufferPointer { run.takeBody($0) } == .later)
        #expect(run.lateness(at: start + .seconds(11)).error == nil)
        #expect(try await transfer.next()?.count == bytes.count)
        #expect(run.lateness(at: start + .seconds(11)).error?.code == .timedOut)
    }

    @Test("The total time is over for a slow reader as well, and for one without a connection")
    func total() {
        #expect(run.lateness(at: start + .seconds(59)).error == nil)
        #expect(run.lateness(at: start + .seconds(61)).error?.message.contains("totalTimeout") == true)
    }

    @Test("When to look again is never later than the limit")
    func nextLook() {
        let soon = run.lateness(at: start + .seconds(55)).next
        #expect(soon <= run.deadline && soon > start + .seconds(55))
    }
}
