import Pipeline

extension Scenario {
    /// What a request may ask of caches (RFC 9111 sections 5.2.1 and 5.4), and whose lifetimes are fixed by the caller.
    static let wishes = [
        Scenario(
            "A request's no-cache has the origin asked, and what comes is stored",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"), .notModified("ETag: \"1\""),
                .image("2", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get(
                "/a", "Cache-Control: no-cache", gives: .image("1"), .revalidated,
                asks: ["/a if-none-match \"1\""]),
            .get("/a", gives: .image("1"), .cache),
            .get("/a", "Cache-Control: no-cache", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""]),
            .restart(),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "Pragma: no-cache is as good where there is no Cache-Control",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60"),
                .image("3", "Cache-Control: max-age=60")),
            .get("/a", "Pragma: no-cache", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Pragma: no-cache", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", "Pragma: no-cache", "Cache-Control: max-age=50", gives: .image("2"), .cache)),
        Scenario(
            "A request's max-age limits the age",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(20),
            .get("/a", "Cache-Control: max-age=30", gives: .image("1"), .cache),
            .get("/a", "Cache-Control: max-age=10", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A request's min-fresh wants what stays fresh for a while",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(20),
            .get("/a", "Cache-Control: min-fresh=30", gives: .image("1"), .cache),
            .get("/a", "Cache-Control: min-fresh=50", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A request's max-stale takes what is stale, as far as it says",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(100),
            .get("/a", "Cache-Control: max-stale=50", gives: .image("1"), .stale),
            .get("/a", "Cache-Control: max-stale", gives: .image("1"), .stale),
            .get("/a", "Cache-Control: max-stale=50, max-age=200", gives: .image("1"), .stale),
            .get("/a", "Cache-Control: max-stale=30", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "max-stale takes nothing that must be revalidated",
            .serve("/a", .image("1", "Cache-Control: max-age=60, must-revalidate"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", "Cache-Control: max-stale=50", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "What was taken for stale once isn't fresh for others",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .get("/a", "Cache-Control: max-stale=50", gives: .image("1")),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "only-if-cached never asks the origin",
            .serve("/a", .image("1", "Cache-Control: max-age=60")),
            .get("/a", "Cache-Control: only-if-cached", gives: .notCached),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Cache-Control: only-if-cached", gives: .image("1"), .cache),
            .pass(61),
            .get("/a", "Cache-Control: only-if-cached", gives: .notCached)),
        Scenario(
            "A request's no-store neither reads nor writes",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", "Cache-Control: no-store", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A request's stale-if-error is as good as the response's",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .status(500)),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(100),
            .get("/a", "Cache-Control: stale-if-error=50", gives: .image("1"), .stale, asks: ["/a"]),
            .get("/a", "Cache-Control: stale-if-error=30", gives: .status(500), asks: ["/a"])),
        Scenario(
            "Under the standard expiry the server decides about a redirect, too", only: .loader,
            .serve("/latest", .redirect(302, "/1"), .redirect(302, "/2")),
            .serve("/1", .image("1", "Cache-Control: max-age=600")),
            .serve("/2", .image("2", "Cache-Control: max-age=600")),
            .get("/latest", expiry: .standard, gives: .image("1"), .origin, asks: ["/latest", "/1"]),
            .get("/latest", expiry: .standard, gives: .image("2"), .origin, asks: ["/latest", "/2"])),
        Scenario(
            "Under the standard expiry a picture without a lifetime lasts a day", only: .loader,
            .serve("/a", .image("1", "ETag: \"1\""), .notModified("ETag: \"1\"")),
            .get("/a", expiry: .standard, gives: .image("1"), .origin, asks: ["/a"]),
            .pass(86_000),
            .get("/a", expiry: .standard, gives: .image("1"), .cache),
            .pass(401),
            .get("/a", expiry: .standard, gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "The caller's default counts from the age, in memory as on disk", only: .loader,
            .serve("/a", .image("1", "ETag: \"1\"", "Age: 80000"), .notModified("ETag: \"1\"")),
            .get("/a", expiry: .standard, gives: .image("1"), .origin, asks: ["/a"]),
            .pass(10_000),
            .get("/a", expiry: .standard, gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "A fixed lifetime is kept whatever the server says, and no longer", only: .loader,
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=9999"), .notModified("ETag: \"1\"")),
            .get("/a", expiry: .after(.seconds(300)), gives: .image("1"), .origin, asks: ["/a"]),
            .pass(299),
            .get("/a", expiry: .after(.seconds(300)), gives: .image("1"), .cache),
            .pass(2),
            .get(
                "/a", expiry: .after(.seconds(300)), gives: .image("1"), .revalidated,
                asks: ["/a if-none-match \"1\""])),
        Scenario(
            "What never expires is given whatever its age", only: .loader,
            .serve("/a", .image("1", "Cache-Control: max-age=1"), .image("2")),
            .get("/a", expiry: .never, gives: .image("1"), .origin, asks: ["/a"]),
            .pass(10_000_000),
            .get("/a", expiry: .never, gives: .image("1"), .cache)),
        Scenario(
            "A clock that was set back is noticed under a fixed lifetime, in memory too", only: .loader,
            .serve("/a", .image("1", "ETag: \"1\""), .notModified("ETag: \"1\"")),
            .get("/a", expiry: .after(.seconds(300)), gives: .image("1"), .origin, asks: ["/a"]),
            .pass(-100_000),
            .get(
                "/a", expiry: .after(.seconds(300)), gives: .image("1"), .revalidated,
                asks: ["/a if-none-match \"1\""])),
    ]
}
