import Pipeline
import PipelineImages
import TestFixtures
import Testing

@Suite("A resize fills a size, or not, by the picture's orientation, least size and zoom")
struct ResizeFitTests {
    private func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    private func result(_ source: PixelSize, _ resize: Resize) async throws -> PixelSize {
        try await resize.apply(DecodedImage.blank(source)).size
    }

    @Test("A picture that is too small to fill the size is cut to its aspect ratio, and not enlarged")
    func fillDown() async throws {
        for (source, box, expected) in [
            (size(400, 200), size(100, 100), size(100, 100)), (size(40, 20), size(100, 100), size(20, 20)),
            (size(40, 20), size(100, 50), size(40, 20)), (size(40, 20), size(200, 50), size(40, 10)),
            (size(40, 20), size(30, 60), size(10, 20)), (size(40, 200), size(100, 100), size(40, 40)),
            (size(40, 20), size(1_000_000, 1), size(40, 1)), (size(1, 1), size(3, 2), size(1, 1)),
            (size(40, 20), size(10, 0), size(10, 5)), (size(40, 20), size(100, 0), size(40, 20)),
        ] {
            #expect(try await result(source, Resize(box, fit: .fillDown)) == expected, "\(source) to \(box)")
        }
        #expect(try await result(size(40, 20), Resize(100, fit: .fillDown, enlarges: true)) == 100)
        // The part is the one that the gravity names.
        let image = DecodedImage(size: size(4, 2), layout: .gray, pixels: [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(try await Resize(9, fit: .fillDown, gravity: .east).apply(image).pixels == [3, 4, 7, 8])
    }

    @Test("A picture fills a size of its own orientation, and fits within another")
    func automatic() async throws {
        for (source, box, expected) in [
            (size(400, 200), size(100, 80), size(100, 80)), (size(400, 200), size(80, 100), size(80, 40)),
            (size(200, 400), size(80, 100), size(80, 100)), (size(200, 400), size(100, 80), size(40, 80)),
            (size(300, 300), size(100, 80), size(100, 80)), (size(300, 300), size(80, 100), size(80, 80)),
            (size(400, 200), size(100, 0), size(100, 50)), (size(40, 20), size(100, 80), size(40, 20)),
        ] {
            #expect(try await result(source, Resize(box, fit: .auto)) == expected, "\(source) to \(box)")
        }
    }

    @Test("No side gets shorter than the least size, for which the picture may grow")
    func minimum() async throws {
        for (fit, source, least, expected) in [
            (Resize.Fit.inside, size(400, 100), size(0, 50), size(200, 50)),
            (.inside, size(400, 100), size(200, 0), size(200, 50)), (.inside, size(20, 10), size(40, 0), size(40, 20)),
            (.cover, size(20, 10), size(0, 40), size(80, 40)), (.cover, size(400, 100), size(50, 50), size(100, 100)),
            (.cover, size(400, 100), size(150, 0), size(150, 100)), (.fill, size(20, 10), size(40, 40), size(80, 40)),
            (.inside, size(400, 100), size(-5, -5), size(100, 25)), (.outside, size(20, 10), size(0, 30), size(60, 30)),
        ] {
            let resize = Resize(100, fit: fit, minimum: least)
            #expect(try await result(source, resize) == expected, "\(fit) of \(source), at least \(least)")
        }
    }

    @Test("A zoom multiplies the size, and none that isn't above 0 leaves a picture")
    func zoom() async throws {
        #expect(try await result(size(400, 200), Resize(100, zoom: 2)) == size(200, 100))
        #expect(try await result(size(400, 200), Resize(100, zoom: 0.25)) == size(25, 13))
        #expect(try await result(size(40, 20), Resize(100, zoom: 2)) == size(40, 20))
        #expect(try await result(size(400, 200), Resize(width: 100, height: 0, zoom: 2)) == size(200, 100))
        #expect(try await result(size(400, 200), Resize(width: 100, height: 0, zoom: 1e-9)) == size(1, 1))
        #expect(Resize(100, zoom: 2).signature == Resize(200).signature)
        for wrong in [0, -1, .nan, .infinity] as [Double] {
            let error = await #expect(throws: LoadError.self) { try await result(20, Resize(100, zoom: wrong)) }
            #expect(error?.code == .untransformable, "\(wrong)")
        }
        await #expect(throws: LoadError.self) { try await result(20, Resize(100, enlarges: true, zoom: 1e300)) }
        await #expect(throws: LoadError.self) { try await result(20, Resize(10, minimum: PixelSize(square: .max))) }
    }

    @Test("A decoder never makes a picture too small for the result", arguments: Resize.Fit.allCases)
    func needed(_ fit: Resize.Fit) async throws {
        let sides = [1, 7, 31, 90]
        let sources = sides.flatMap { width in sides.map { size(width, $0) } }
        let boxes = [size(5, 0), size(1, 60), size(13, 11), size(60, 2), size(31, 30)]
        let least = [0, size(0, 20), size(29, 31)]
        for source in sources {
            for (box, minimum) in boxes.flatMap({ box in least.map { (box, $0) } }) {
                let resize = Resize(box, fit: fit, minimum: minimum)
                guard let needed = resize.neededBox(of: source, later: PixelNeeds()) else { continue }
                let expected = try await result(source, resize)
                let reduced = source.fitted(into: needed)
                let image = DecodedImage.blank(reduced, nativeSize: source)
                let said = "\(source) to \(resize.parameters) by \(reduced)"
                #expect(try await resize.apply(image).size == expected, "\(said)")
                if fit != .contain { #expect(reduced.width >= min(source.width, expected.width), "\(said)") }
            }
        }
    }

    @Test("A photograph is decoded no larger than these fits need, and gives the same picture")
    func decoded() async throws {
        let file = try Pictures.bytes("good/photo-12mp-baseline-420.jpg")
        let whole = try await SampleImage.decode(file)
        for resize in [
            Resize(300, fit: .fillDown), Resize(width: 300, height: 200, fit: .auto),
            Resize(width: 200, height: 300, fit: .auto), Resize(100, minimum: PixelSize(width: 0, height: 150)),
        ] {
            let response = try await SampleImage.load(file) {
                Decode()
                resize
            }
            let image = try #require(response.image)
            let expected = try await resize.apply(whole)
            #expect(image.size == expected.size)
            #expect(image.difference(from: expected) < 1.5, "\(resize.parameters)")
        }
    }
}

extension DecodedImage {
    fileprivate static func blank(_ size: PixelSize, nativeSize: PixelSize? = nil) -> DecodedImage {
        DecodedImage(
            size: size, layout: .gray, pixels: Array(repeating: 7, count: size.width * size.height),
            nativeSize: nativeSize ?? size)
    }
}
