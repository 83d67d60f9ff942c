import Pipeline

extension Scenario {
    /// Who gets what: credentials, `private`, `Vary`, and caches that are shared (RFC 9111 sections 3.5, 4.1 and 5.2.2.7).
    static let usersOfOne = ["Authorization: Bearer ", "Cookie: s=", "Proxy-Authorization: Basic ", "X-Api-Key: "]
        .flatMap { field -> [Scenario] in
            let name = field.prefix { $0 != ":" }
            return [
                Scenario(
                    "Users that \(name) tells apart never get each other's private picture",
                    .serve(
                        "/me", .image("alice", "Cache-Control: private, max-age=60"),
                        .image("bob", "Cache-Control: private, max-age=60"),
                        .image("nobody", "Cache-Control: private, max-age=60")),
                    .get("/me", field + "alice", gives: .image("alice"), .origin, asks: ["/me"]),
                    .get("/me", field + "bob", gives: .image("bob"), .origin, asks: ["/me"]),
                    .get("/me", gives: .image("nobody"), .origin, asks: ["/me"]),
                    .restart(),
                    .get("/me", field + "alice", gives: .image("alice"), .cache),
                    .get("/me", field + "bob", gives: .image("bob"), .cache),
                    .get("/me", gives: .image("nobody"), .cache)),
                Scenario(
                    "Users that \(name) tells apart never get each other's picture, whatever the origin leaves unsaid",
                    .serve(
                        "/me", .image("alice", "Cache-Control: max-age=60"),
                        .image("bob", "Cache-Control: max-age=60")),
                    .get("/me", field + "alice", gives: .image("alice"), .origin, asks: ["/me"]),
                    .get("/me", field + "bob", gives: .image("bob"), .origin, asks: ["/me"]),
                    .get("/me", field + "alice", gives: .image("alice"), .cache)),
            ]
        }

    /// Who gets what, by other means.
    static let users = [
        Scenario(
            "A user's credentials never go along with another's validators",
            .serve(
                "/me", .image("alice", "ETag: \"a\"", "Cache-Control: private, no-cache"),
                .image("bob", "ETag: \"b\"", "Cache-Control: private, no-cache"), .notModified("ETag: \"a\"")),
            .get("/me", "Cookie: s=alice", gives: .image("alice"), .origin, asks: ["/me"]),
            .get("/me", "Cookie: s=bob", gives: .image("bob"), .origin, asks: ["/me"]),
            .get(
                "/me", "Cookie: s=alice", gives: .image("alice"), .revalidated, asks: ["/me if-none-match \"a\""])),
        Scenario(
            "Another Host is another picture",
            .serve(
                "/a", .image("one", "Cache-Control: max-age=60"), .image("two", "Cache-Control: max-age=60")),
            .get("/a", "Host: one.example", gives: .image("one"), .origin, asks: ["/a"]),
            .get("/a", "Host: two.example", gives: .image("two"), .origin, asks: ["/a"]),
            .restart(),
            .get("/a", "Host: one.example", gives: .image("one"), .cache)),
        Scenario(
            "A private response selects by every field that the request gave, though nobody names it",
            .serve(
                "/me", .image("alice", "Cache-Control: private, max-age=60"),
                .image("bob", "Cache-Control: private, max-age=60")),
            .get("/me", "X-Tenant: alice", gives: .image("alice"), .origin, asks: ["/me"]),
            .get("/me", "X-Tenant: bob", gives: .image("bob"), .origin, asks: ["/me"]),
            .restart(),
            .get("/me", "X-Tenant: alice", gives: .image("alice"), .cache),
            .get("/me", "X-Tenant: bob", gives: .image("bob"), .cache)),
        Scenario(
            "A field that nobody names means nothing to a response that isn't private",
            .serve("/a", .image("1", "Cache-Control: max-age=60")),
            .get("/a", "X-Tenant: alice", gives: .image("1"), .origin, asks: ["/a"]),
            .restart(),
            .get("/a", "X-Tenant: bob", gives: .image("1"), .cache)),
        Scenario(
            "A cache of one user follows RFC 9111 alone", users: .one,
            .serve("/me", .image("1", "Cache-Control: private, max-age=60")),
            .get("/me", "Cookie: count=1", "X-Request-ID: 1", gives: .image("1"), .origin, asks: ["/me"]),
            .restart(),
            .get("/me", "Cookie: count=2", "X-Request-ID: 2", gives: .image("1"), .cache)),
        Scenario(
            "A cache of one user keeps Authorization apart all the same", users: .one,
            .serve(
                "/me", .image("1", "Cache-Control: private, max-age=60"),
                .image("2", "Cache-Control: private, max-age=60")),
            .get("/me", "Authorization: Bearer 1", gives: .image("1"), .origin, asks: ["/me"]),
            .get("/me", "Authorization: Bearer 2", gives: .image("2"), .origin, asks: ["/me"]),
            .get("/me", "Authorization: Bearer 1", gives: .image("1"), .cache)),
        Scenario(
            "Partitions are apart",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", partition: "one", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", partition: "two", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", partition: "one", gives: .image("1"), .cache)),
        Scenario(
            "Vary selects, and keeps what each request got",
            .serve(
                "/a", .image("de", "Cache-Control: max-age=60", "Vary: Accept-Language"),
                .image("fr", "Cache-Control: max-age=60", "Vary: Accept-Language"),
                .image("none", "Cache-Control: max-age=60", "Vary: Accept-Language")),
            .get("/a", "Accept-Language: de", gives: .image("de"), .origin, asks: ["/a"]),
            .get("/a", "Accept-Language: fr", gives: .image("fr"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("none"), .origin, asks: ["/a"]),
            .restart(),
            .get("/a", "Accept-Language: de", gives: .image("de"), .cache),
            .get("/a", "Accept-Language: fr", gives: .image("fr"), .cache),
            .get("/a", gives: .image("none"), .cache)),
        Scenario(
            "Every field that Vary names has to be the same",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=60", "Vary: Accept", "Vary: X-Theme"),
                .image("2", "Cache-Control: max-age=60", "Vary: Accept, X-Theme")),
            .get("/a", "Accept: image/png", "X-Theme: dark", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Accept: image/png", "X-Theme: light", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", "Accept: image/png", "X-Theme: dark", "X-Other: 1", gives: .image("1"), .cache)),
        Scenario(
            "Of several that fit the one with the latest Date is given, and of the same Date the one that came last",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=60", "Vary: X-Theme", "Date: {0}"),
                .image("2", "Cache-Control: max-age=60", "Date: {0}")),
            .serve(
                "/b", .image("1", "Cache-Control: max-age=60", "Vary: X-Theme", "Date: {0}"),
                .image("2", "Cache-Control: max-age=60", "Date: {-5}")),
            .get("/a", "X-Theme: dark", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "X-Theme: light", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/b", "X-Theme: dark", gives: .image("1"), .origin, asks: ["/b"]),
            .get("/b", "X-Theme: light", gives: .image("2"), .origin, asks: ["/b"]),
            .restart(),
            .get("/a", "X-Theme: dark", gives: .image("2"), .cache),
            .get("/b", "X-Theme: dark", gives: .image("1"), .cache)),
        Scenario(
            "Vary: * fits no request",
            .serve("/a", .image("1", "Cache-Control: max-age=60", "Vary: *"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A private response is stored in no shared cache", users: .shared,
            .serve("/a", .image("1", "Cache-Control: private, max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "What Authorization gave access to is stored in no shared cache", users: .shared,
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2")),
            .get("/a", "Authorization: Bearer 1", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Authorization: Bearer 1", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "public lets a shared cache store what Authorization gave access to, for that user", users: .shared,
            .serve(
                "/a", .image("1", "Cache-Control: public, max-age=60"),
                .image("2", "Cache-Control: public, max-age=60")),
            .get("/a", "Authorization: Bearer 1", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Authorization: Bearer 1", gives: .image("1"), .cache),
            .get("/a", "Authorization: Bearer 2", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "private for one field leaves the rest to a shared cache", users: .shared,
            .serve("/a", .image("1", "Cache-Control: private=\"X-Mine\", max-age=60", "X-Mine: 1")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("1"), .cache)),
    ]
}
