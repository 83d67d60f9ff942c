import Essentials
import HTTPTypes
import Pipeline

extension Freshness {
    /// Judges a stored response: a pure function of the response, the request, the time and the policy.
    /// - Parameters:
    ///   - request: the fields of the request that it would answer.
    ///   - isShared: whether the cache serves several users (RFC 9111 section 1.2.3).
    ///   - isUncertain: whether it may have been removed without the cache's knowledge.
    init(
        of stored: StoredResponse, for request: HTTPFields, now: Date, expiry: Expiry, rules: CacheRules,
        isShared: Bool = false, isUncertain: Bool = false
    ) {
        let response = CacheControl(response: stored.headers, isShared: isShared)
        let wish = CacheControl(request)
        let age = Self.currentAge(of: stored, now: now)
        let lifetime = Lifetime(
            of: stored, response, now: now, expiry: rules == .http ? .server(otherwise: .zero) : expiry,
            usesHeuristic: rules == .http, isShared: isShared)
        // If the caller's own rule decides, the origin's wish to be asked doesn't count.
        let serverDecides = lifetime.basis != .fixed && lifetime.basis != .never
        let remaining = lifetime.end(age: age, now: now)

        let verdict = Self.verdict(
            age: age, remaining: remaining, response, wish, request, forbidsStale: response.forbidsStale(isShared),
            asksEachTime: serverDecides && response.isUnqualified("no-cache"),
            isFromFuture: lifetime.basis != .never && now < stored.responseTime - 2, isUncertain: isUncertain)

        let overrun = remaining.map { .zero - $0 } ?? .zero
        let allowsStale =
            !response.forbidsStale(isShared) && ![.requestNoCache, .clockSetBack, .uncertain].contains(verdict)
        let revalidationWindow = response.seconds("stale-while-revalidate")
        let errorWindow = [response.seconds("stale-if-error"), wish.seconds("stale-if-error")].compactMap(\.self).max()
        self.init(
            age: age, lifetime: lifetime.duration, basis: lifetime.basis, remaining: remaining, verdict: verdict,
            judged: now,
            mayBeServedWhileRevalidating: allowsStale && verdict == .expired
                && revalidationWindow.map { overrun < .seconds($0) } ?? false,
            mayBeServedOnError: allowsStale && errorWindow.map { overrun < .seconds($0) } ?? false,
            mayBeServedWhenUnreachable: allowsStale)
    }

    private static func verdict(
        age: Duration, remaining: Duration?, _ response: CacheControl, _ wish: CacheControl, _ request: HTTPFields,
        forbidsStale: Bool, asksEachTime: Bool, isFromFuture: Bool, isUncertain: Bool
    ) -> Verdict {
        if wish.contains("no-cache") || wish.isEmpty && request.pragmaNoCache { return .requestNoCache }
        if isUncertain { return .uncertain }
        if isFromFuture { return .clockSetBack }
        if asksEachTime { return .noCache }
        let isFresh = remaining.map { $0 > .zero } ?? true
        // RFC 8246 section 2: a reload, which sends max-age=0, needn't revalidate a response that can't change.
        let isImmutable = isFresh && response.contains("immutable")
        if wish.contains("max-age"), !isImmutable {
            let limit = wish.seconds("max-age") ?? 0
            if limit == 0 || age > .seconds(limit) { return .requestMaxAge }
        }
        if isFresh {
            guard let remaining, let wanted = wish.seconds("min-fresh") else { return .fresh }
            return remaining < .seconds(wanted) ? .requestMinFresh : .fresh
        }
        guard !forbidsStale, let remaining else { return .expired }
        return switch wish.argument("max-stale") {
        case .some(.none): .acceptedStale
        case .some(.value):
            wish.seconds("max-stale").map { .zero - remaining <= .seconds($0) } == true ? .acceptedStale : .expired
        default: .expired
        }
    }

    /// RFC 9111 section 4.2.3.
    private static func currentAge(of stored: StoredResponse, now: Date) -> Duration {
        let date = stored.headers.date(.date, now: now) ?? stored.responseTime
        let apparentAge = max(0, stored.responseTime.timeIntervalSince(date))
        let responseDelay = max(0, stored.responseTime.timeIntervalSince(stored.requestTime))
        let correctedAge = stored.headers.ageValue + responseDelay
        let residentTime = max(0, now.timeIntervalSince(stored.responseTime))
        return .seconds(clamping: max(apparentAge, correctedAge) + residentTime)
    }
}

extension CacheControl {
    /// Whether the response must not be served once it is stale (RFC 9111 section 4.2.4).
    func forbidsStale(_ isShared: Bool) -> Bool {
        contains("must-revalidate") || isUnqualified("no-cache")
            || isShared && (contains("proxy-revalidate") || contains("s-maxage"))
    }
}

extension HTTPFields {
    /// A field's first line as a date; `nil` without one that can be read.
    func date(_ name: HTTPField.Name, now: Date) -> Date? {
        self[values: name].first.flatMap { HTTPDate.parse($0, now: now) }
    }

    /// The first member of `Age` in seconds; 0 if it isn't a number (RFC 9111 section 5.1).
    fileprivate var ageValue: Double {
        let member = self[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first ?? ""
        return Double(deltaSeconds(member.utf8.filter { !isSpace($0) }) ?? 0)
    }

    /// Whether an HTTP/1.0 client forbids a cached response (RFC 9111 section 5.4).
    package var pragmaNoCache: Bool {
        contains { $0.name.canonicalName == "pragma" && $0.value.lowercased().contains("no-cache") }
    }
}
