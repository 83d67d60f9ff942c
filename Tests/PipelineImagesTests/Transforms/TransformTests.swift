import Pipeline
import PipelineImages
import PipelineTesting
import TestFixtures
import Testing

@Suite("Transforms make other pixels of every frame, and name what they do")
struct TransformTests {
    /// Numbers from 1 on, one pixel each.
    private func numbered(_ width: Int, _ height: Int) -> DecodedImage {
        DecodedImage(
            size: PixelSize(width: width, height: height), layout: .gray,
            pixels: (1...width * height).map { UInt8(truncatingIfNeeded: $0) })
    }

    private func pixels(_ image: DecodedImage, _ layout: PixelLayout, _ size: PixelSize) -> [[UInt8]] {
        #expect(image.layout == layout)
        #expect(image.size == size)
        return stride(from: 0, to: image.pixels.count, by: layout.channelCount)
            .map { Array(image.pixels[$0..<$0 + layout.channelCount]) }
    }

    static let all: [any Transform] = [
        Crop(x: 1, y: 1, width: 30, height: 20), Crop(20), Crop(20, gravity: .northWest),
        Crop(20, focalPoint: (x: 0.2, y: 0.9)), Crop(20, by: .entropy), Crop(20, by: .attention), Rotate(.quarter),
        Crop(aspect: PixelSize(width: 2, height: 1)), Crop(aspect: PixelSize(width: 2, height: 1), gravity: .south),
        Crop(width: .percent(20), height: .pixels(20)), Crop(width: .percent(20), height: .percent(20)),
        Rotate(.half), Rotate(degrees: 30), Rotate(degrees: 30, background: .white), Rotate(degrees: 30.5),
        Flip(.horizontal), Flip(.vertical),
        Pad(to: 100), Pad(to: 100, color: .clear), Pad(left: 3, bottom: 4), Flatten(), Flatten(.black), Grayscale(),
        Resize(20), Resize(20, fit: .cover), Resize(20, fit: .contain), Resize(20, fit: .fill),
        Resize(20, fit: .outside), Resize(90, enlarges: true), Resize(20, fit: .fillDown), Resize(20, fit: .auto),
        Resize(20, minimum: 30), Resize(20, zoom: 2), Blur(sigma: 1), Blur(sigma: 2), Sharpen(), Sharpen(1),
        Adjust(brightness: 1.5), Adjust(saturation: 0.5), Adjust(hue: 90), RoundCorners(radius: 8), CropCircle(),
        Trim(),
        Trim(tolerance: 20), Composite(.filled(10, with: [255, 0, 0, 128])),
        Composite(.filled(10, with: [255, 1, 0, 128])),
        Composite(.filled(10, with: [255, 0, 0, 128]), offset: (x: -2, y: 0)),
        Composite(.filled(10, with: [255, 0, 0, 128]), scale: 0.5),
    ]

    @Test("No two transforms have the same signature")
    func signatures() {
        let signatures = Self.all.compactMap(\.signature)
        #expect(signatures.count == Self.all.count)
        #expect(Set(signatures).count == signatures.count)
    }

    @Test("Each treats every frame of an animation, keeps delays and loops, and any layout", arguments: all.indices)
    func frames(_ index: Int) async throws {
        let transform = Self.all[index]
        for layout in [PixelLayout.gray, .rgb, .rgba] {
            let size = PixelSize(width: 61, height: 43)
            let frames = (0..<3).map { frame in
                DecodedImage.Frame(
                    pixels: (0..<size.width * size.height * layout.channelCount).map {
                        UInt8(truncatingIfNeeded: $0 * 7 + frame * 50)
                    }, delay: .milliseconds(10 + frame))
            }
            let image = DecodedImage(size: size, layout: layout, frames: frames, loopCount: 2)
            let result = try await transform.apply(image)
            #expect(result.frames.count == 3)
            #expect(Set(result.frames.map(\.pixels)).count == 3)
            #expect(result.frames.map(\.delay) == frames.map(\.delay))
            #expect(result.loopCount == 2)
            // A still picture of each frame gives the same: frames don't know of each other. Exceptions are what looks for
            // a place that suits them all.
            guard !(transform is Trim), transform.signature?.contains("by ") == false else { continue }
            for (frame, expected) in zip(frames, result.frames) {
                let still = DecodedImage(size: size, layout: layout, pixels: frame.pixels)
                #expect(try await transform.apply(still).pixels == expected.pixels)
            }
        }
    }

    @Test(
        "Each treats every frame of a file that moves, whatever its format",
        arguments: ["good/gif-animated.gif", "good/webp-animated.webp", "generated/animated.avif"])
    func files(_ name: String) async throws {
        let image = try await SampleImage.decode(
            try Pictures.bytes(name), with: Decode(limits: ImageLimits(frames: 9)))
        #expect(image.frames.count == 4)
        for transform in Self.all {
            let result = try await transform.apply(image)
            #expect(result.frames.map(\.delay) == image.frames.map(\.delay))
            #expect(result.loopCount == image.loopCount)
            guard !(transform is Trim), transform.signature?.contains("by ") == false else { continue }
            for (frame, expected) in zip(image.frames, result.frames) {
                let still = DecodedImage(size: image.size, layout: image.layout, pixels: frame.pixels)
                #expect(try await transform.apply(still).pixels == expected.pixels)
            }
        }
    }

    @Test("Each works on a single pixel, and each that is cancelled says so", arguments: all.indices)
    func extremes(_ index: Int) async throws {
        let transform = Self.all[index]
        for pixel in [[7], [7, 8, 9], [7, 8, 9, 10]] as [[UInt8]] {
            do {
                _ = try await transform.apply(.filled(1, with: pixel))
            } catch let error as LoadError {
                #expect(error.code == .untransformable)
            }
        }
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await transform.apply(.filled(40))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A crop cuts a rectangle out, and cuts off what lies outside the picture")
    func crop() async throws {
        let image = numbered(4, 3)
        #expect(try await Crop(x: 1, y: 1, width: 2, height: 2).apply(image).pixels == [6, 7, 10, 11])
        #expect(try await Crop(x: -1, y: 2, width: 3, height: 9).apply(image).pixels == [9, 10])
        #expect(try await Crop(PixelSize(width: 2, height: 1)).apply(image).pixels == [6, 7])
        #expect(try await Crop(1, gravity: .southEast).apply(image).pixels == [12])
        #expect(try await Crop(1, gravity: .southEast, offset: (x: -1, y: -1)).apply(image).pixels == [7])
        #expect(try await Crop(1, gravity: .center, offset: (x: .max, y: .min)).apply(image).pixels == [4])
        #expect(Crop(1, offset: (x: 1, y: 0)).signature != Crop(1).signature)
        #expect(try await Crop(PixelSize(width: 9, height: 1), gravity: .north).apply(image).pixels == [1, 2, 3, 4])
        for (x, y, pixel) in [(0.0, 0.0, 1), (1, 1, 12), (0.6, 0.5, 7), (-5, 99, 9), (.nan, 0, 3)]
            as [(Double, Double, UInt8)]
        {
            #expect(try await Crop(1, focalPoint: (x: x, y: y)).apply(image).pixels == [pixel])
        }
        for outside in [
            Crop(x: 4, y: 0, width: 1, height: 1), Crop(x: 0, y: 0, width: 0, height: 1),
            Crop(x: .max, y: .min, width: .max, height: .max),
        ] {
            let error = try await #require(throws: LoadError.self) { try await outside.apply(image) }
            #expect(error.code == .untransformable)
        }
    }

    @Test(
        "A crop of an aspect is the largest that fits, and one in percent goes by the picture's sides",
        arguments: [
            (Crop(aspect: PixelSize(width: 16, height: 9)), 40, 23), (Crop(aspect: 1, gravity: .north), 30, 30),
            (Crop(aspect: PixelSize(width: 1, height: 1_000_000)), 1, 30),
            (Crop(width: .percent(50), height: .percent(10), gravity: .southEast), 20, 3),
            (Crop(x: .percent(25), y: .pixels(29), width: .percent(100), height: .percent(50)), 30, 1),
            (Crop(width: .percent(0.001), height: .percent(1e300)), 1, 30),
        ])
    func relativeCrops(_ crop: Crop, _ width: Int, _ height: Int) async throws {
        let image = numbered(40, 30)
        let cut = try await crop.apply(image)
        #expect(cut.size == PixelSize(width: width, height: height))
        let region = try #require(crop.neededRegion(of: image.size, later: PixelNeeds())?.region)
        #expect(cut.pixels[0] == image.pixels[region.y * 40 + region.x])
    }

    @Test("What a crop leaves is not taken for the picture made smaller")
    func croppedSize() async throws {
        // The same aspect as the picture's.
        let cut = try await Rotate(.quarter).apply(
            try await Crop(x: 1, y: 1, width: 21, height: 20).apply(numbered(42, 40)))
        #expect(try await Resize(10).apply(cut).size == PixelSize(width: 10, height: 10))
        #expect(cut.nativeSize == PixelSize(width: 40, height: 42))
        #expect(try await Resize(25, enlarges: true).apply(cut).size == PixelSize(width: 24, height: 25))
    }

    @Test("A crop in percent of nothing, and one of an aspect without a side, are errors")
    func nothing() async throws {
        for crop in [
            Crop(width: .percent(0), height: .percent(10)), Crop(width: .percent(.nan), height: .percent(10)),
            Crop(aspect: PixelSize(width: 0, height: 1)),
        ] {
            let error = try await #require(throws: LoadError.self) { try await crop.apply(numbered(4, 3)) }
            #expect(error.code == .untransformable)
        }
    }

    @Test("By any angle the middle stays, the corners show the background, and quarters stay exact")
    func angles() async throws {
        let image = DecodedImage.filled(PixelSize(width: 40, height: 20), with: [200, 100, 50])
        let clear = try await Rotate(degrees: 30).apply(image)
        // 40 cos 30° + 20 sin 30°, and the other way round.
        #expect(clear.size == PixelSize(width: 45, height: 38) && clear.layout == .rgba)
        #expect(clear.pixel(22, 19) == [200, 100, 50, 255])
        #expect(clear.pixel(0, 0)[3] == 0 && clear.pixel(44, 37)[3] == 0)
        // A soft edge keeps the picture's colour.
        let edge = (0..<38).map { clear.pixel(22, $0) }.first { (1..<255).contains($0[3]) }
        #expect(try #require(edge).prefix(3) == [200, 100, 50])
        let white = try await Rotate(degrees: 30, background: .white).apply(image)
        #expect(white.layout == .rgb && white.pixel(0, 0) == [255, 255, 255])
        for (degrees, angle) in [(90.0, Rotate.Angle.quarter), (-180, .half), (630, .threeQuarters)] {
            let turned = try await Rotate(degrees: degrees).apply(numbered(3, 2))
            #expect(turned.pixels == (try await Rotate(angle).apply(numbered(3, 2))).pixels)
            #expect(Rotate(degrees: degrees).signature == Rotate(angle).signature)
        }
        for degrees in [0, 360, -1e-300, .nan, .infinity] {
            #expect(try await Rotate(degrees: degrees).apply(numbered(3, 2)).pixels == numbered(3, 2).pixels)
        }
    }

    @Test("A picture that is turned there and back shows what it was")
    func thereAndBack() async throws {
        let photo = try await SampleImage.decode(try Pictures.bytes("good/jpeg-exif-xmp-icc.jpg"))
        let there = try await Rotate(degrees: 10, background: .black).apply(photo)
        let back = try await Crop(photo.size).apply(try await Rotate(degrees: -10, background: .black).apply(there))
        #expect(back.difference(from: photo) < 8)
    }

    @Test("Turning and mirroring move every pixel where it belongs")
    func turn() async throws {
        let image = numbered(3, 2)
        #expect(try await Rotate(.quarter).apply(image).pixels == [4, 1, 5, 2, 6, 3])
        #expect(try await Rotate(.quarter).apply(image).size == PixelSize(width: 2, height: 3))
        #expect(try await Rotate(.half).apply(image).pixels == [6, 5, 4, 3, 2, 1])
        #expect(try await Rotate(.threeQuarters).apply(image).pixels == [3, 6, 2, 5, 1, 4])
        #expect(try await Flip(.horizontal).apply(image).pixels == [3, 2, 1, 6, 5, 4])
        #expect(try await Flip(.vertical).apply(image).pixels == [4, 5, 6, 1, 2, 3])
    }

    @Test("Padding puts the picture where it is told, in a layout that can show the colour")
    func pad() async throws {
        let image = numbered(1, 1)
        #expect(
            try await Pad(to: PixelSize(width: 3, height: 2), gravity: .southEast, color: .black).apply(image).pixels
                == [0, 0, 0, 0, 0, 1])
        #expect(try await Pad(top: 1, right: 1, color: .white).apply(image).pixels == [255, 255, 1, 255])
        let red = try await Pad(left: 1, color: Color(red: 255, green: 0, blue: 0)).apply(image)
        #expect(pixels(red, .rgb, PixelSize(width: 2, height: 1)) == [[255, 0, 0], [1, 1, 1]])
        let clear = try await Pad(left: 1, color: .clear).apply(image)
        #expect(pixels(clear, .rgba, PixelSize(width: 2, height: 1)) == [[0, 0, 0, 0], [1, 1, 1, 255]])
        for far in [Pad(left: .max, right: .max), Pad(to: PixelSize(square: .max))] {
            let error = try await #require(throws: LoadError.self) { try await far.apply(image) }
            #expect(error.code == .untransformable)
        }
    }

    @Test(
        "Each fit has the size that it promises",
        arguments: [
            (Resize.Fit.inside, false, 100, 100, 50), (.outside, false, 100, 200, 100), (.cover, false, 100, 100, 100),
            (.contain, false, 100, 100, 100), (.fill, false, 100, 100, 100), (.inside, false, 900, 400, 200),
            (.inside, true, 900, 900, 450), (.fill, false, 300, 300, 200), (.cover, false, 300, 300, 200),
            (.cover, true, 300, 300, 300), (.contain, false, 900, 900, 900),
        ])
    func fits(_ fit: Resize.Fit, _ enlarges: Bool, _ side: Int, _ width: Int, _ height: Int) async throws {
        let image = DecodedImage.filled(PixelSize(width: 400, height: 200), with: [40])
        let result = try await Resize(PixelSize(square: side), fit: fit, enlarges: enlarges).apply(image)
        #expect(result.size == PixelSize(width: width, height: height))
        #expect(result.pixel(width / 2, height / 2) == [40])
    }

    @Test("A side of 0 keeps the aspect, whatever the fit", arguments: Resize.Fit.allCases)
    func resizeOneSide(fit: Resize.Fit) async throws {
        let image = DecodedImage.filled(PixelSize(width: 40, height: 20))
        for (width, height, enlarges, expected) in [
            (10, 0, false, PixelSize(width: 10, height: 5)), (0, 10, false, PixelSize(width: 20, height: 10)),
            (80, 0, false, PixelSize(width: 40, height: 20)), (80, 0, true, PixelSize(width: 80, height: 40)),
        ] {
            let resize = Resize(width: width, height: height, fit: fit, enlarges: enlarges)
            #expect(try await resize.apply(image).size == expected)
        }
    }

    @Test("A size without pixels, and one that no memory holds, are errors")
    func resizeNonsense() async throws {
        for size in [PixelSize(square: 0), PixelSize(square: -1), PixelSize(square: .max)] {
            let error = try await #require(throws: LoadError.self) {
                try await Resize(size, fit: .fill, enlarges: true).apply(.filled(2))
            }
            #expect(error.code == .untransformable)
        }
    }

    @Test("Flattening mixes with the background, and greyscale keeps how bright a colour is")
    func flattenAndGray() async throws {
        let half = DecodedImage.filled(1, with: [200, 100, 0, 128])
        #expect(try await Flatten(.white).apply(half).pixels == [227, 177, 127])
        #expect(try await Flatten(.black).apply(half).pixels == [100, 50, 0])
        #expect(try await Grayscale().apply(.filled(1, with: [255, 0, 0])).pixels == [54])
        #expect(try await Grayscale().apply(.filled(1, with: [255, 255, 255])).pixels == [255])
        #expect(try await Grayscale().apply(half).pixels == [114, 114, 114, 128])
    }

    @Test("A blurred point is the bell of Gauss, and what is constant stays so")
    func blur() async throws {
        var point = [UInt8](repeating: 0, count: 31 * 31)
        point[15 * 31 + 15] = 255
        let image = DecodedImage(size: 31, layout: .gray, pixels: point)
        let bell = try await Blur(sigma: 1).apply(image).pixels
        // 255 / 2π at the middle, and e^-½ of it one pixel away.
        #expect(abs(Int(bell[15 * 31 + 15]) - 41) <= 1)
        #expect(abs(Int(bell[15 * 31 + 16]) - 25) <= 1)
        #expect(bell[14 * 31 + 15] == bell[15 * 31 + 14])
        #expect(bell[0] == 0)
        for pixel in [[77], [1, 2, 3], [9, 99, 199, 255]] as [[UInt8]] {
            let plain = DecodedImage.filled(33, with: pixel)
            #expect(try await Blur(sigma: 100).apply(plain).pixels == plain.pixels)
            #expect(try await Sharpen(3).apply(plain).pixels == plain.pixels)
        }
    }

    @Test("Sharpening makes an edge steeper and leaves transparency alone")
    func sharpen() async throws {
        let edge = DecodedImage(
            size: PixelSize(width: 6, height: 1), layout: .gray, pixels: [100, 100, 100, 150, 150, 150])
        let sharp = try await Sharpen(1).apply(edge).pixels
        #expect(sharp[2] < 95 && sharp[3] > 155)
        #expect(sharp[0] == 100 && sharp[5] == 150)
        let fading = DecodedImage(
            size: PixelSize(width: 2, height: 1), layout: .rgba, pixels: [9, 9, 9, 0, 200, 200, 200, 255])
        let alphas = try await Sharpen(2).apply(fading).pixels
        #expect([alphas[3], alphas[7]] == [0, 255])
    }

    @Test("Brightness, saturation and hue are those of CSS")
    func adjust() async throws {
        let orange = DecodedImage.filled(1, with: [200, 100, 50])
        #expect(try await Adjust(brightness: 0.5).apply(orange).pixels == [100, 50, 25])
        #expect(try await Adjust(brightness: 2).apply(.filled(1, with: [100])).pixels == [200])
        // 0.213 × 200 + 0.715 × 100 + 0.072 × 50.
        #expect(try await Adjust(saturation: 0).apply(orange).pixels == [118, 118, 118])
        #expect(try await Adjust(hue: 360).apply(orange).pixels == orange.pixels)
        let turned = try await Adjust(hue: 180).apply(.filled(1, with: [255, 0, 0])).pixels
        #expect(turned == [0, 109, 109])
    }

    @Test("What one adjustment makes too bright is white for the next, as in CSS")
    func adjustInSteps() async throws {
        let bright = try await Adjust(brightness: 2, saturation: 0).apply(.filled(1, with: [200, 100, 50])).pixels
        // Brightness makes 255, 200 and 100 of it: 0.213 × 255 + 0.715 × 200 + 0.072 × 100.
        #expect(bright == [205, 205, 205])
        for gray in [[80], [80, 80, 80]] as [[UInt8]] {
            let image = DecodedImage.filled(1, with: gray)
            #expect(try await Adjust(saturation: 3, hue: 70).apply(image).pixels == image.pixels)
            #expect(try await Adjust(brightness: 2).apply(image).pixels == gray.map { $0 * 2 })
        }
    }

    @Test("A crop by interest finds what there is to be seen, in all frames together", arguments: Interest.allCases)
    func interest(_ interest: Interest) async throws {
        // Two checked squares on a plain ground: a faint one, and a strong one further down.
        func frame(_ places: [(x: Int, y: Int, light: UInt8)]) -> DecodedImage.Frame {
            var pixels = [UInt8](repeating: 100, count: 200 * 120)
            for place in places {
                for y in 0..<32 {
                    for x in 0..<32 where (x / 2 + y / 2).isMultiple(of: 2) {
                        pixels[(place.y + y) * 200 + place.x + x] = place.light
                    }
                }
            }
            return DecodedImage.Frame(pixels: pixels, delay: .milliseconds(40))
        }
        let size = PixelSize(width: 200, height: 120)
        let one = DecodedImage(size: size, layout: .gray, frames: [frame([(140, 70, 255)])])
        let cut = try await Crop(40, by: interest).apply(one)
        #expect(cut.pixels.filter { $0 == 255 }.count > 500)
        let two = DecodedImage(
            size: size, layout: .gray, frames: [frame([]), frame([(8, 8, 255)]), frame([])])
        #expect(try await Crop(40, by: interest).apply(two).frames[1].pixels.filter { $0 == 255 }.count > 500)
        let plain = DecodedImage.filled(size, with: [9, 99, 199])
        #expect(try await Crop(40, by: interest).apply(plain).size == PixelSize(square: 40))
        var marked = plain.pixels
        marked[(60 * 200 + 100) * 3] = 10
        let middle = try await Crop(PixelSize(width: 11, height: 11), by: interest)
            .apply(DecodedImage(size: size, layout: .rgb, pixels: marked))
        #expect(middle.pixels.contains(10))
        let error = try await #require(throws: LoadError.self) {
            try await Crop(PixelSize(width: 0, height: 5), by: interest).apply(plain)
        }
        #expect(error.code == .untransformable)
    }

    @Test("Round corners are transparent, smooth, alike, and leave the middle alone")
    func corners() async throws {
        for side in [20, 21] {
            let image = try await RoundCorners(radius: 6).apply(.filled(PixelSize(square: side), with: [9, 8, 7]))
            func alpha(_ x: Int, _ y: Int) -> UInt8 { image.pixels[(y * side + x) * 4 + 3] }
            #expect(alpha(0, 0) == 0 && alpha(side - 1, 0) == 0 && alpha(0, side - 1) == 0)
            #expect(alpha(side / 2, 0) == 255 && alpha(6, 0) > 250 && alpha(side / 2, side / 2) == 255)
            var edge = 0
            for y in 0..<side {
                for x in 0..<side {
                    #expect(alpha(x, y) == alpha(side - 1 - x, y) && alpha(x, y) == alpha(y, x))
                    if alpha(x, y) != 0, alpha(x, y) != 255 { edge += 1 }
                }
            }
            #expect(edge > 12)
        }
        let circle = try await CropCircle().apply(.filled(PixelSize(width: 101, height: 77), with: [9]))
        #expect(circle.size == PixelSize(square: 77))
        let area = stride(from: 3, to: circle.pixels.count, by: 4).reduce(0) { $0 + Int(circle.pixels[$1]) }
        let expected: Double = 38.5 * 38.5 * Double.pi
        #expect(abs(Double(area) / 255 - expected) < 8)
    }

    @Test("Trimming cuts off edges of one colour, as far as every frame can spare them")
    func trim() async throws {
        func frame(_ marks: [Int]) -> DecodedImage.Frame {
            var pixels = [UInt8](repeating: 250, count: 6 * 5)
            for mark in marks { pixels[mark] = 0 }
            return DecodedImage.Frame(pixels: pixels)
        }
        let size = PixelSize(width: 6, height: 5)
        let one = DecodedImage(size: size, layout: .gray, frames: [frame([8])])
        #expect(try await Trim().apply(one).pixels == [0])
        let two = DecodedImage(size: size, layout: .gray, frames: [frame([8]), frame([22])])
        #expect(try await Trim().apply(two).size == PixelSize(width: 3, height: 3))
        let plain = DecodedImage(size: size, layout: .gray, frames: [frame([])])
        #expect(try await Trim().apply(plain).size == size)
        #expect(try await Trim(tolerance: 250).apply(one).size == size)
    }

    @Test("A watermark lies where it is told, as strong as it is told, and may reach over the edge")
    func composite() async throws {
        let image = DecodedImage.filled(4, with: [100, 100, 100])
        let red = DecodedImage.filled(2, with: [255, 0, 0])
        let corner = try await Composite(red).apply(image)
        #expect(corner.pixel(3, 3) == [255, 0, 0] && corner.pixel(1, 1) == [100, 100, 100])
        let half = try await Composite(red, gravity: .northWest, opacity: 0.5).apply(image)
        #expect(half.pixel(0, 0) == [178, 50, 50])
        let over = try await Composite(red, gravity: .northWest, offset: (x: -1, y: 3)).apply(image)
        #expect(over.pixel(0, 3) == [255, 0, 0] && over.pixel(1, 3) == [100, 100, 100])
        let far = try await Composite(red, offset: (x: .max, y: .min)).apply(image)
        #expect(far.pixels == image.pixels)
        let large = try await Composite(red, scale: 1).apply(image)
        #expect(large.pixels == DecodedImage.filled(4, with: [255, 0, 0]).pixels)
        let onNothing = try await Composite(.filled(1, with: [9, 8, 7, 99])).apply(.filled(1, with: [0, 0, 0, 0]))
        #expect(onNothing.pixels == [9, 8, 7, 99])
    }

    @Test("A watermark is repeated from its place in all directions, at a distance")
    func tiling() async throws {
        let image = DecodedImage.filled(7, with: [100, 100, 100])
        let red = DecodedImage.filled(2, with: [255, 0, 0])
        func isCovered(by watermark: Composite) async throws -> [Bool] {
            let result = try await watermark.apply(image)
            // One row and one column tell all: the repeats lie in a grid.
            return (0..<7).map { result.pixel($0, 6) == [255, 0, 0] }
                + (0..<7).map { result.pixel(6, $0) == [255, 0, 0] }
        }
        let all = Array(repeating: true, count: 14)
        #expect(try await isCovered(by: Composite(red, tiled: true)) == all)
        // From the corner at the bottom right: columns 5 and 6, 2 and 3, and the second half of what begins at -1.
        let apart = [true, false, true, true, false, true, true]
        #expect(try await isCovered(by: Composite(red, tiled: true, spacing: 1)) == apart + apart)
        let moved = [false, true, true, false, true, true, false]
        let offset = Composite(red, gravity: .northWest, offset: (x: 1, y: 0), tiled: true, spacing: 1)
        let result = try await offset.apply(image)
        #expect((0..<7).map { result.pixel($0, 0) == [255, 0, 0] } == moved)
        let once = Composite(red, tiled: true, spacing: 1_000_000)
        #expect(try await once.apply(image).pixels == Composite(red).apply(image).pixels)
        #expect(once.signature != Composite(red).signature && once.signature != Composite(red, tiled: true).signature)
    }

    @Test("Trimming takes the colour that it is told, and keeps the middle where it is told")
    func trimming() async throws {
        var pixels = Array(repeating: UInt8(255), count: 8 * 6 * 3)
        for row in 2..<4 { for column in 1..<4 { pixels[(row * 8 + column) * 3 + 1] = 0 } }
        let image = DecodedImage(size: PixelSize(width: 8, height: 6), layout: .rgb, pixels: pixels)
        #expect(try await Trim(color: .white).apply(image).size == PixelSize(width: 3, height: 2))
        #expect(try await Trim(color: .black).apply(image).size == image.size)
        #expect(try await Trim(equalSides: true).apply(image).size == PixelSize(width: 6, height: 2))
        #expect(try await Trim(equalEnds: true).apply(image).size == PixelSize(width: 3, height: 2))
        let gray = DecodedImage(size: PixelSize(width: 4, height: 1), layout: .gray, pixels: [9, 200, 200, 9])
        #expect(try await Trim(color: Color(red: 9, green: 0, blue: 0)).apply(gray).size == gray.size)
        #expect(try await Trim(color: Color(red: 9, green: 9, blue: 9)).apply(gray).pixels == [200, 200])
    }

    @Test("A list of transforms runs in its order and is in the variant's key")
    func list() async throws {
        let response = try await SampleImage.process(numbered(4, 3)) {
            Crop(x: 0, y: 0, width: 2, height: 1)
            Rotate(.quarter)
        }
        #expect(response.image?.pixels == [1, 2])
        #expect(response.image?.size == PixelSize(width: 1, height: 2))
    }
}
