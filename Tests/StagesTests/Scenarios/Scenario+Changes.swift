import Pipeline

extension Scenario {
    /// What becomes invalid (RFC 9111 section 4.4), and responses that overtake each other.
    static let changes = [
        Scenario(
            "An unsafe request that succeeds makes its target invalid",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .status(204), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("1"), .cache),
            .send("POST", "/a", status: 204),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "An unsafe request that fails changes nothing",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .status(500), .status(404), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .send("POST", "/a", status: 500),
            .send("DELETE", "/a", status: 404),
            .get("/a", gives: .image("1"), .cache)),
        Scenario(
            "A safe method makes nothing invalid",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .status(200), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .send("OPTIONS", "/a", status: 200),
            .get("/a", gives: .image("1"), .cache)),
        Scenario(
            "Location and Content-Location become invalid as well, in the same origin alone",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .image("1a", "Cache-Control: max-age=600")),
            .serve("/b", .image("2", "Cache-Control: max-age=600"), .image("2a", "Cache-Control: max-age=600")),
            .serve("other.example/a", .image("3", "Cache-Control: max-age=600"), .image("3a")),
            .serve("/post", .status(201, "Location: /a", "Content-Location: http://EXAMPLE.com/b"), .status(204)),
            .serve("/other", .status(201, "Location: http://other.example/a")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/b", gives: .image("2"), .origin, asks: ["/b"]),
            .get("other.example/a", gives: .image("3"), .origin, asks: ["other.example/a"]),
            .send("POST", "/post", status: 201),
            .send("POST", "/other", status: 201),
            .get("/a", gives: .image("1a"), .origin, asks: ["/a"]),
            .get("/b", gives: .image("2a"), .origin, asks: ["/b"]),
            .get("other.example/a", gives: .image("3"), .cache)),
        Scenario(
            "What a POST says of its own URL answers a later GET, though the POST has made that URL invalid",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=600"),
                .image("2", "Cache-Control: max-age=600", "Content-Location: /a").after(1), .image("3")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .send("POST", "/a", status: 200),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "Every user's response becomes invalid",
            .serve("/me", .image("alice", "Cache-Control: private, max-age=600"), .status(204), .image("new")),
            .get("/me", "Cookie: s=alice", gives: .image("alice"), .origin, asks: ["/me"]),
            .send("PUT", "/me", "Cookie: s=admin", status: 204),
            .get("/me", "Cookie: s=alice", gives: .image("new"), .origin, asks: ["/me"])),
        Scenario(
            "What was asked for before an unsafe request and arrives after it is given, and kept nowhere",
            .serve("/a", .image("1", "Cache-Control: max-age=600").held, .status(204), .image("2")),
            .begin("slow", "/a", asks: ["/a"]),
            .send("PUT", "/a", status: 204),
            .finish("slow", gives: .image("1"), .origin),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A confirmation that was asked for before an unsafe request makes nothing fresh",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=60").held, .status(204), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .begin("slow", "/a", asks: ["/a if-none-match \"1\""]),
            .send("PUT", "/a", status: 204),
            .finish("slow", gives: .image("1"), .revalidated),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "Another process's unsafe request beats a fetch under way",
            .serve("/a", .image("1", "Cache-Control: max-age=600").held, .status(204), .image("2")),
            .begin("slow", "/a", asks: ["/a"]),
            .send("PUT", "/a", by: "b", status: 204),
            .finish("slow", gives: .image("1"), .origin),
            .get("/a", by: "b", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "An unsafe request to a hop beats a chain under way",
            .serve("/latest", .redirect(302, "/1", "Cache-Control: max-age=600")),
            .serve("/1", .image("1", "Cache-Control: max-age=600").held, .status(204), .image("2")),
            .begin("slow", "/latest", asks: ["/latest", "/1"]),
            .send("PUT", "/1", status: 204),
            .finish("slow", gives: .image("1"), .origin),
            .get("/latest", gives: .image("2"), .origin, asks: ["/1"])),
        Scenario(
            "A program that removes a URL reaches a fetch under way",
            .serve("/a", .image("1", "Cache-Control: max-age=600").held, .image("2")),
            .begin("slow", "/a", asks: ["/a"]),
            .remove("/a"),
            .finish("slow", gives: .image("1"), .origin),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A program that removes a URL has it fetched again",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .image("2")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .remove("/a"),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"])),
        Scenario(
            "A program that removes all has all fetched again",
            .serve("/a", .image("1", "Cache-Control: max-age=600"), .image("2")),
            .serve("/b", .image("3", "Cache-Control: max-age=600"), .image("4")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/b", gives: .image("3"), .origin, asks: ["/b"]),
            .removeAll(),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/b", gives: .image("4"), .origin, asks: ["/b"])),
        Scenario(
            "What is made invalid and stored again is fresh, also after the clock was set back",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=600"), .status(204),
                .image("2", "Cache-Control: max-age=600")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .send("PUT", "/a", status: 204),
            .pass(-3600),
            .get("/a", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "An older response that arrives late doesn't replace a newer one",
            .serve(
                "/a", .image("1", "Cache-Control: max-age=600").held, .image("2", "Cache-Control: max-age=600")),
            .begin("slow", "/a", asks: ["/a"]),
            .get("/a", "Cache-Control: no-cache", gives: .image("2"), .origin, asks: ["/a"]),
            .finish("slow", gives: .image("1"), .origin),
            .get("/a", gives: .image("2"), .cache),
            .restart(),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "A late 304 for a picture that was replaced makes nothing fresh, in memory neither",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=600").held,
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=600")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .begin("slow", "/a", asks: ["/a if-none-match \"1\""]),
            .get(
                "/a", "Cache-Control: no-cache", gives: .image("2"), .origin, asks: ["/a if-none-match \"1\""]),
            .finish("slow", gives: .image("1"), .revalidated),
            .get("/a", gives: .image("2"), .cache),
            .restart(),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "A late 304 for a picture that another process replaced makes nothing fresh",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .notModified("ETag: \"1\"", "Cache-Control: max-age=600").held,
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=600")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .pass(61),
            .begin("slow", "/a", asks: ["/a if-none-match \"1\""]),
            .get(
                "/a", "Cache-Control: no-cache", by: "b", gives: .image("2"), .origin,
                asks: ["/a if-none-match \"1\""]),
            .finish("slow", gives: .image("1"), .revalidated),
            .get("/a", gives: .image("2"), .cache)),
        Scenario(
            "A 304 for what another process has put in the place of a picture confirms no picture in memory",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60"), .notModified("ETag: \"2\"")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get(
                "/a", "Cache-Control: no-cache", by: "b", gives: .image("2"), .origin,
                asks: ["/a if-none-match \"1\""]),
            .pass(61),
            .get("/a", gives: .image("2"), .revalidated, asks: ["/a if-none-match \"2\""])),
        Scenario(
            "While a picture that another process has replaced is refreshed, none in memory is given in its place",
            .serve(
                "/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60, stale-while-revalidate=60"),
                .image("2", "ETag: \"2\"", "Cache-Control: max-age=60, stale-while-revalidate=60"),
                .notModified("ETag: \"2\"")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .get(
                "/a", "Cache-Control: no-cache", by: "b", gives: .image("2"), .origin,
                asks: ["/a if-none-match \"1\""]),
            .pass(61),
            .get("/a", gives: .image("2"), .stale, asks: ["/a if-none-match \"2\""])),
        Scenario(
            "What one process has stored another one gives",
            .serve("/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"), .notModified("ETag: \"1\"")),
            .get("/a", by: "a", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", by: "b", gives: .image("1"), .cache),
            .pass(61),
            .get("/a", by: "b", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""]),
            .restart("a"),
            .get("/a", by: "a", gives: .image("1"), .cache)),
        Scenario(
            "What was fresh as a program ended is fresh as it starts, and stale when its time has come",
            .serve("/a", .image("1", "ETag: \"1\"", "Cache-Control: max-age=60"), .notModified("ETag: \"1\"")),
            .get("/a", gives: .image("1"), .origin, asks: ["/a"]),
            .restart(),
            .pass(59),
            .get("/a", gives: .image("1"), .cache),
            .restart(),
            .pass(2),
            .get("/a", gives: .image("1"), .revalidated, asks: ["/a if-none-match \"1\""])),
        Scenario(
            "Equal requests at the same time are one",
            .serve("/a", .image("1", "Cache-Control: max-age=60").held, .image("2")),
            .together(5, "/a", gives: .image("1"), asks: ["/a"])),
        Scenario(
            "A new response in the place of another is given to every request that it fits",
            .serve("/a", .image("1", "Cache-Control: max-age=60"), .image("2", "Cache-Control: max-age=60")),
            .get("/a", "X-Other: 1", gives: .image("1"), .origin, asks: ["/a"]),
            .get("/a", "Cache-Control: no-cache", gives: .image("2"), .origin, asks: ["/a"]),
            .get("/a", "X-Other: 2", gives: .image("2"), .cache)),
    ]
}
