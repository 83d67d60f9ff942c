import ArgumentParser
import Foundation
import Testing

@testable import ImageServer

@Suite("Settings come from a file, the environment and the command line")
final class SettingsTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "settings-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: file) }

    private func settings(
        _ arguments: [String], file text: String? = nil, _ environment: [String: String] = [:]
    ) throws -> Settings {
        try text.map { try Data($0.utf8).write(to: file) }
        let config = text == nil ? [] : ["--config", file.path]
        return try Settings.parse(try SettingsSources.arguments(config + arguments, environment: environment))
    }

    @Test("An option wins over the environment, which wins over the file")
    func order() throws {
        let text =
            "# a comment\n\nfolder = .\nunsigned = true\nmax-age = 1\nquality=2\nqueue = 3\nallow = http://a.example\n"
        let environment = ["IMAGE_SERVER_QUALITY": "20", "IMAGE_SERVER_QUEUE": "30", "HOME": "/"]
        let settings = try settings(["--queue", "300"], file: text, environment)
        #expect((settings.maxAge, settings.quality, settings.queue) == (1, 20, 300))
        #expect(settings.unsigned && settings.folder == "." && settings.origins == ["http://a.example"])
        #expect(try SettingsSources.arguments(["serve", "--quality", "5"], environment: environment).first == "serve")
    }

    @Test("A list is replaced by a later source, and flags are true or false")
    func lists() throws {
        let text = "folder = .\nunsigned = true\nisolate = false\nallow = http://a.example\nallow = http://b.example\n"
        #expect(try settings([], file: text).origins == ["http://a.example", "http://b.example"])
        #expect(try settings([], file: text).isolate == false)
        #expect(try settings(["--isolate"], file: text).isolate)
        let environment = ["IMAGE_SERVER_ALLOW": "http://c.example http://d.example"]
        #expect(try settings([], file: text, environment).origins == ["http://c.example", "http://d.example"])
        #expect(try settings(["--allow", "http://e.example"], file: text, environment).origins == ["http://e.example"])
    }

    @Test(
        "Settings that make no sense are refused",
        arguments: [
            [], ["--folder", "."], ["--unsigned"], ["--unsigned", "--folder", ".", "--port", "70000"],
            ["--unsigned", "--folder", ".", "--preset", "small"],
            ["--unsigned", "--folder", ".", "--preset", "small=20x20,nonsense"],
            ["--unsigned", "--folder", ".", "--imgproxy-preset", "a=nonsense:1"],
            ["--unsigned", "--folder", ".", "--imgproxy-preset", "a=pr:missing"],
        ]
            + [
                "--rate=-5", "--rate=nan", "--burst=-1", "--cache-bytes=-1", "--memory-bytes=-5", "--pixels=0",
                "--decode-seconds=0", "--public-url=javascript:x", "--folder=/nonexistent", "--trust-proxy=x",
                "--host=0.0.0.0", "--allow=ftp://a.example/", "--max-connections=0", "--lifetime=60",
                "--format-quality=webp", "--format-quality=webp=0", "--format-pixels=avif=9-1",
                "--format-pixels=svg=1-9",
                "--watermark=/nonexistent", "--watermark-opacity=2", "--fallback=/dev/null", "--fallback-max-age=-1",
                "--purge-token-file=/dev/null", "--imgproxy-source-key-file=/dev/null",
                "--tenant=shop", "--tenant=shop=/dev/null", "--tenant=shop=/nonexistent",
                "--tenant-allow=shop=http://a.test/",
                "--tenant-rate=shop=5", "--tenant-queue=shop=5", "--tenant-lifetime=shop=http://a.test/=5",
            ].map { ["--unsigned", "--folder", ".", $0] })
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { _ = try Settings.parse(arguments) }
    }

    @Test("A server of tenants needs no keys of its own, unless it has a gallery, and says nothing of theirs")
    func tenants() throws {
        let keys = String(repeating: "a1", count: 16)
        let shop = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: shop) }
        try Data("\(keys)\r\n".utf8).write(to: shop)
        let options = [
            "--tenant", "shop=\(shop.path)", "--tenant-allow", "shop=https://a.test/", "--tenant-rate", "shop=5,9",
        ]
        let first = try settings(options)
        let configuration = try first.configuration()
        #expect(configuration.keys == nil && !configuration.servesUnsigned)
        #expect(configuration.tenants.map(\.name) == ["shop"] && configuration.tenants.first?.burst == 9)
        let text = SettingsSources.text(of: first)
        #expect(text.contains("tenant = shop=\(shop.path)") && !text.contains(keys))
        #expect(SettingsSources.text(of: try settings([], file: text)) == text)
        #expect(throws: (any Error).self) { try settings(options + ["--gallery"]) }
        // Two tenants of one file have a key in common.
        let error = #expect(throws: (any Error).self) { try settings(options + ["--tenant", "news=\(shop.path)"]) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("in common"))
        #expect(first.memory > (try settings(["--unsigned", "--folder", "."])).memory)
    }

    @Test(
        "What is not a setting is an error that names it",
        arguments: [
            ("max-ages = 1", "Line 1"), ("folder = .\nfolder", "Line 2"), ("unsigned = maybe", "unsigned"),
        ])
    func mistakes(text: String, named: String) {
        let error = #expect(throws: SettingsError.self) { _ = try settings([], file: text) }
        #expect(error?.description.contains(named) == true)
    }

    @Test("A missing file and an unknown name in the environment are errors")
    func missing() {
        #expect(throws: SettingsError.self) { _ = try settings(["--config", "/nonexistent"]) }
        #expect(throws: SettingsError.self) { _ = try settings(["--config"]) }
        #expect(throws: SettingsError.self) { _ = try settings([], ["IMAGE_SERVER_MAX_AGES": "1"]) }
    }

    @Test("What is printed is a file with the same settings, without the password of Redis")
    func printed() throws {
        let first = try settings(
            [
                "--unsigned", "--folder", ".", "--no-isolate", "--allow", "http://a.example", "--allow",
                "http://b.example",
                "--trust-proxy", "10.0.0.0/8", "--shared", "redis://user:secret@localhost",
            ])
        let text = SettingsSources.text(of: first)
        #expect(text.contains("max-age = 3600") && text.contains("isolate = false") && text.contains("# keys-file ="))
        #expect(text.contains("trust-proxy = 10.0.0.0/8") && !text.contains("secret"))
        #expect(SettingsSources.text(of: try settings([], file: text)) == text)
        // Each option of the help can be set.
        let names = Settings.helpMessage().matches(of: /--(?:no-)?([a-z-]+)/).map { String($0.1) }
        for name in Set(names) where name != "help" && name != "thumb" {
            #expect(text.contains("\(name) ="), "\(name)")
        }
    }
}
