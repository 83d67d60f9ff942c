import HTTPTypes
import Stages
import Testing

@testable import PipelineServer

@Suite("Each dialect is a function from a path to a source and a list")
struct DialectTests {
    /// What is made of the picture, in words.
    private func list(_ request: PictureRequest) -> String {
        request.stages.map { stage in
            stage.parameters.isEmpty ? stage.name : "\(stage.name)(\(stage.parameters))"
        }.joined(separator: " ") + (request.format.map { " → \($0.rawValue.dropFirst(6))" } ?? "")
    }

    @Test(
        "IIIF",
        arguments: [
            ("a.jpg/full/max/0/default.jpg", "Resize(8192×8192, inside) → jpeg"),
            (
                "a.jpg/square/200,/0/default.webp",
                "Crop(1:1, centre) Resize(200×8192, inside) RequireSize(200×any) → webp"
            ),
            (
                "a.jpg/1,2,30,40/,20/90/gray.png",
                "Crop(x: 1, y: 2, 30×40) Resize(8192×20, inside) RequireSize(any×20) Rotate(90°) Grayscale → png"
            ),
            (
                "a.jpg/pct:10,20,30.5,40/50,60/!180/bitonal.tif",
                "Crop(x: 10.0%, y: 20.0%, 30.5%×40.0%) Resize(50×60, fill) RequireSize(50×60) Flip(horizontal) "
                    + "Rotate(180°) Bitonal → tiff"
            ),
            (
                "a.jpg/full/!50,60/22.5/color.gif",
                "Resize(50×60, inside) RequireSize(50 or 60) Rotate(22.5°, #00000000) → gif"
            ),
            ("a.jpg/full/^900,/360/default.avif", "Resize(900×8192, inside, enlarges) RequireSize(900×any) → avif"),
            ("a.jpg/full/pct:50/0/default.jpg", "ScaleByPercent(50.0 %) → jpeg"),
            ("a.jpg/full/^pct:150/0/default.jpg", "ScaleByPercent(150.0 %) → jpeg"),
        ])
    func iiif(path: String, expected: String) throws {
        guard case .picture(let request) = try IIIFDialect().request(DialectPath("/iiif/" + path)) else {
            Issue.record("not a picture")
            return
        }
        #expect(request.source == "a.jpg")
        #expect(list(request) == expected)
    }

    @Test(
        "IIIF refuses what is malformed",
        arguments: [
            ("a/full/max/0/default.xyz", 400), ("a/full/max/0/pretty.jpg", 400), ("a/full/max/361/default.jpg", 400),
            ("a/full/max/-90/default.jpg", 400), ("a/full/0,/0/default.jpg", 400), ("a/full/,/0/default.jpg", 400),
            ("a/full/!5,/0/default.jpg", 400), ("a/full/pct:150/0/default.jpg", 400),
            ("a/full/9000,/0/default.jpg", 400),
            ("a/1,2,3/max/0/default.jpg", 400), ("a/1,2,0,4/max/0/default.jpg", 400),
            ("a/-1,2,3,4/max/0/default.jpg", 400),
            ("a/pct:1e1,2,3,4/max/0/default.jpg", 400), ("a/full/1,2,3/0/default.jpg", 400), ("a/b/info.json", 404),
            ("a/full/max/0/default", 400), ("/full/max/0/default.jpg", 404), ("%zz/info.json", 404),
            ("%00/info.json", 404),
        ])
    func iiifRefusals(path: String, status: Int) {
        let problem = #expect(throws: Problem.self) { _ = try IIIFDialect().request(DialectPath("/iiif/" + path)) }
        #expect(problem?.status.code == status)
    }

    @Test("IIIF knows a source's description and its base")
    func iiifInfo() throws {
        func request(_ path: String) throws -> DialectRequest {
            try IIIFDialect().request(DialectPath(path, address: "https://images.example"))
        }
        guard case .description(let info) = try request("/iiif/https:%2F%2Fhost%2Fa%20b.jpg/info.json"),
            case .redirect("https://images.example/iiif/a.jpg/info.json") = try request("/iiif/a.jpg")
        else {
            Issue.record("another kind")
            return
        }
        #expect(info.source == "https://host/a b.jpg")
    }

    @Test(
        "The canonical path is the same for all spellings of a picture",
        arguments: [
            ("a/full/400,/0/color.jpg", "full/400,300/0/default.jpg"),
            ("a/0,0,1600,1200/!400,400/360/default.jpg", "full/400,300/0/default.jpg"),
            ("a/pct:50,0,50,50/max/!0/gray.png", "800,0,800,600/max/!0/gray.png"),
            ("a/square/^pct:200/180/default.jpg", "200,0,1200,1200/^2400,2400/180/default.jpg"),
        ])
    func canonical(path: String, expected: String) {
        let parts = path.split(separator: "/")
        #expect(IIIFCanonical(parts, turned: PixelSize(width: 1600, height: 1200))?.path == expected)
    }

    @Test(
        "The server's own",
        arguments: [
            ("400x300/a.jpg", "Resize(400×300, inside)"), ("400x,enlarge/a.jpg", "Resize(400×8192, inside, enlarges)"),
            ("x300,q=60,format=webp/a.jpg", "Resize(8192×300, inside) → webp"),
            ("40x30,cover,attention,grey/a.jpg", "Resize(40×30, outside) Crop(40×30, by attention) Grayscale"),
            ("small,blur=2/a.jpg", "Resize(20×20, cover) Blur(2.0)"), ("auto/a.jpg", "Resize(640×8192, inside)"),
        ])
    func thumb(path: String, expected: String) throws {
        let request = try ThumbDialect(presets: ["small": "20x20,cover"]).picture(path[...])
        #expect(request.source == "a.jpg")
        #expect(list(request) == expected)
    }

    @Test(
        "The server's own refuses what is malformed",
        arguments: [
            "a.jpg", "400/a.jpg", "x/a.jpg", "0x5/a.jpg", "9999x5/a.jpg", "4x4,q=0/a.jpg", "4x4,turn=3/a.jpg",
            "cover/a.jpg", "4x4,blur=-1/a.jpg", "4x4/", "4x4,format=bmp/a.jpg",
        ])
    func thumbRefusals(path: String) {
        let problem = #expect(throws: Problem.self) { _ = try ThumbDialect().picture(path[...]) }
        #expect(problem?.status == .badRequest)
    }

    @Test("Client hints enlarge a thumbnail, and save data")
    func hints() throws {
        let hints = ClientHints(pixelRatio: 2, width: 900)
        let request = try ThumbDialect().picture("100x50/a.jpg", hints)
        #expect(list(request) == "Resize(200×100, inside)")
        #expect(list(try ThumbDialect().picture("auto/a.jpg", hints)) == "Resize(960×8192, inside)")
        let saving = try ThumbDialect().picture("100x50/a.jpg", ClientHints(pixelRatio: 2, savesData: true))
        #expect(list(saving) == "Resize(100×50, inside)" && saving.quality == 50)
    }
}
