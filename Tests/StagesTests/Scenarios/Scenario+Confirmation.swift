import Pipeline

extension Scenario {
    /// What a 304 says of the stored response (RFC 9111 sections 3.2, 4.3.3 and 4.3.4; RFC 9110 section 8.8).
    static let confirmation = [
        Scenario(
            "A 304 with another strong tag confirms nothing: the origin is asked once more without conditions",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"2\"", "Cache-Control: max-age=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60"), .notModified("ETag: \"2\"")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\"", "/a"]),
            .get("/a", gives: .image("2"), .cache),
            .pass(61),
            .get("/a", gives: .image("2"), .revalidated, asks: ["/a if-none-match \"2\""])),
        Scenario(
            "A 304 with another strong tag makes nothing fresh on disk, either",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"2\"", "Cache-Control: max-age=600"), .unreachable,
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .unreachable, asks: ["/a if-none-match \"1\"", "/a"]),
            .restart(),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "A 304 with a weak tag confirms what has that tag, weak or strong",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: W/\"1\"", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("1"), .cache)),
        Scenario(
            "A 304 with another weak tag confirms nothing",
            .serve(
                "/a", .image("1", "ETag: W/\"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: W/\"2\"", "Cache-Control: max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match W/\"1\"", "/a"])),
        Scenario(
            "A 304 with a strong tag says nothing of what has a weak one",
            .serve(
                "/a", .image("1", "ETag: W/\"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match W/\"1\"", "/a"])),
        Scenario(
            "A 304 with another Last-Modified confirms nothing",
            .serve(
                "/a", .image("1", "Last-Modified: {-1000}", "Cache-Control: max-age=60"),
                .notModified("Last-Modified: {-10}", "Cache-Control: max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-modified-since {-1000}", "/a"])),
        Scenario(
            "A 304 without validators confirms what was asked about",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Last-Modified: {-1000}", "Cache-Control: max-age=60"),
                .notModified("Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\" if-modified-since {-1000}"]),
            .get("/a", gives: .image("1"), .cache)),
        Scenario(
            "A 304 brings a new lifetime, and the age starts over",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60", "Age: 30"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=600")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(31),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .pass(599),
            .get("/a", gives: .image("1"), .cache),
            .pass(2),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "A 304 that says no-cache makes each later use ask",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: no-cache")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "A 304 that says no-store ends what is stored",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: no-store, max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A 304 that makes a response private takes it from a shared cache", users: .shared,
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: private, max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A 304 that nobody asked for is an error of the origin's",
            .serve("/a", .notModified("ETag: \"1\"")),
            .get("/a", gives: .status(304), asks: ["/a"])),
        Scenario(
            "A stored validator that can't be sent isn't, and the picture still loads",
            .serve(
                "/a", .image("1", "ETag: \"a\u{1}b\"", "Last-Modified: \u{7F}", "Cache-Control: max-age=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "A changed picture takes the place of the one that was asked about",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60"), .notModified("ETag: \"2\"")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("2"), .cache),
            .pass(61),
            .get("/a", gives: .image("2"), .revalidated, asks: ["/a if-none-match \"2\""])),
        Scenario(
            "A pipeline has no use for a caller's own conditions, and drops them", only: .loader,
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60")),
            .get("/a", "If-None-Match: \"2\"", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", "If-None-Match: \"2\"", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "A 304 for the caller's own tag says nothing of the stored response", only: .cachingClient,
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"), .notModified("ETag: \"2\""),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get(
                "/a", "If-None-Match: \"2\"", gives: .status(304),
                asks: ["/a if-none-match \"2\" if-none-match \"1\""]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "A 304 that names another Vary selects by it from then on",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=60", "Vary: Accept-Language"),
                .image("2", "Cache-Control: max-age=60", "Vary: Accept-Language")),
            .get("/a", "Accept-Language: de", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", "Accept-Language: de", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .get("/a", "Accept-Language: fr", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", "Accept-Language: de", gives: .image("1"), .cache)),
    ]
}
