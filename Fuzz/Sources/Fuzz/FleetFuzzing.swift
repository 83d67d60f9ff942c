import HTTPTypes

@testable import Pipeline
@testable import PipelineHTTP
@testable import PipelineShared
@testable import Stages

/// Plays a hostile Redis: reads arbitrary bytes as its replies, and gives each to everything that reads a reply.
enum FleetFuzzing {
    private static let key = SourceKey(digest: BLAKE2bDigest(of: "fuzzed"))

    static func read(_ bytes: [UInt8]) {
        for value in RedisReplies.all(in: bytes) { take(value) }
        readPacked(bytes)
        readCredentials(bytes)
        // A page of the list repeats its number, as the script does.
        _ = RedisStore.page(.array([.bytes(bytes), .bytes(bytes), .bytes(bytes), .bytes(bytes)]))
    }

    private static func take(_ value: RedisValue, depth: Int = 0) {
        if let number = value.integer {
            precondition(number.magnitude <= 1 << 53, "a number is out of bounds")
            _ = number * 1000 + number - (0 - number)
        }
        for entry in FoundHeads(value, key: key).heads { use(entry.head, entry.bodyLength) }
        if let page = RedisStore.page(value) {
            var sum = 0
            for entry in page.entries {
                sum += entry.bodyLength
                _ = "\(entry)"
            }
            precondition(sum >= 0)
        }
        if let missed = MissedInvalidations(value) {
            precondition(missed.targets.allSatisfy { $0.number.magnitude <= 1 << 53 })
            precondition([missed.known, missed.since, missed.until].allSatisfy { $0.magnitude <= 1 << 53 })
        }
        if case .held(let rest) = GrantReply(value) {
            precondition(rest > .zero && rest < .seconds(1 << 44), "a lease of \(rest)")
        }
        let messages = FleetMessages(FleetKeys(namespace: "fuzzed")) {
            0
        } changed: { change in
            if case .invalidated(let number, _) = change { precondition(number.magnitude <= 1 << 53) }
            return false
        }
        try? messages.connected(.array([value]))
        let listener = messages.listen(to: "d")
        messages.received(value)
        messages.leave(listener)
        if let text = value.text {
            let server = FleetServer(information: text)
            precondition(server.usedBytes >= 0 && server.byteLimit >= 0)
            precondition(!server.version.unicodeScalars.contains(where: \.isInvisibleMark))
            _ = server.advice
        }
        if case .error(let text) = value {
            let shown = "\(RedisFailure.refused(text))"
            precondition(!shown.unicodeScalars.contains(where: \.isInvisibleMark), "an error colours terminals")
        }
        if let bytes = value.bytes { readPacked(bytes) }
        precondition(depth < 16, "a reply nests without end")
        for element in value.array ?? [] { take(element, depth: depth + 1) }
    }

    /// Reads what services give out as credentials, the files with profiles, and a bucket's list of objects.
    private static func readCredentials(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for found in [S3Credentials(json: bytes), S3Credentials(xml: text)].compactMap(\.self) {
            for value in [found.accessKey, found.secretKey, found.sessionToken ?? "none"] {
                precondition(value.utf8.allSatisfy { 0x21...0x7E ~= $0 }, "credentials have other characters")
            }
        }
        if let code = XMLText.errorCode(text) {
            precondition(!code.unicodeScalars.contains(where: \.isInvisibleMark), "a code colours terminals")
        }
        let profiles = CredentialProfiles(credentials: text, configuration: text)
        _ = profiles["default"].flatMap { S3Credentials(profile: $0) }
        if let page = try? BlobStore.page(of: text) {
            precondition(page.names.allSatisfy { $0.utf8.count == 64 }, "an object isn't named by a digest")
        }
    }

    /// Reads the values of keys: heads, results and references.
    private static func readPacked(_ bytes: [UInt8]) {
        if let head = CheckedHead(bytes, key: key, generation: 1) { use(head.head, head.bodyLength) }
        precondition(CheckedValue.open(CheckedValue.seal(bytes, as: "a"), as: "a") == bytes)
        precondition(CheckedValue.open(CheckedValue.seal(bytes, as: "a"), as: "b") == nil)
        if let (head, length) = PackedResponse.unpack(bytes, key: key, generation: 1) {
            use(head, length)
            let packed = PackedResponse.pack(head, bodyLength: length)
            let again = PackedResponse.unpack(packed, key: key, generation: 1)
            precondition(again?.bodyLength == length && again?.head.headers == head.headers, "a head doesn't come back")
        }
        if let image = PackedImage.unpack(bytes) {
            precondition(
                PackedImage.unpack(PackedImage.pack(image))?.bytes == image.bytes, "a result doesn't come back")
            if ExpectedResult.picture(.standard).includes(image) {
                precondition(image.declaredType.map { $0.hasPrefix("image/") && !$0.contains("svg") } ?? false)
            }
            _ = (image.size ?? 0).width * (image.size ?? 0).height
        }
        if let reference = BlobReference(bytes) {
            precondition(BlobReference(reference.bytes) == reference && reference.name.count == 64)
        }
    }

    /// Judges a response as a lookup does.
    private static func use(_ head: StoredResponse, _ length: Int) {
        precondition(length >= 0)
        let now = SystemClock().now
        for expiry in [Expiry.standard, .never, .after(.seconds(1))] {
            for rules in [CacheRules.asRequested, .http] {
                let freshness = Freshness(of: head, for: [:], now: now, expiry: expiry, rules: rules, isShared: true)
                _ = "\(freshness) \(freshness.ageField)"
            }
        }
        _ = head.selecting.match([.accept: "image/*"], of: .several)
        _ = Validators.conditions(for: head.headers)
        _ = redactedURL(head.target)
    }
}
