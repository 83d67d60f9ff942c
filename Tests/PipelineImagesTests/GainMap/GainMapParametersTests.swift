import Pipeline
import Testing

@testable import PipelineImages

@Suite("A gain map's numbers are read by the rules of ISO 21496-1 and of Adobe's properties, or refused")
struct GainMapParametersTests {
    private typealias Metadata = GainMapFixture.Metadata

    private func fault(_ read: () throws(GainMapFault) -> GainMapParameters) -> String? {
        do {
            _ = try read()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("Every field of one channel")
    func oneChannel() throws {
        let read = try GainMapParameters(iso: Metadata().bytes[...])
        #expect(read.baseHeadroom == 0 && read.alternateHeadroom == 1.3)
        #expect(read.usesBaseColorSpace && !read.isBaseHDR)
        let expected = GainMapParameters.Channel(
            minimum: -0.5, maximum: 2.25, gamma: 0.5, baseOffset: 0.015625, alternateOffset: -0.015625)
        #expect(read.channels == [expected])
        #expect(try GainMapParameters(toneMapped: [0] + Metadata().bytes) == read)
    }

    @Test("Three channels, an HDR base, and fractions with one denominator")
    func threeChannels() throws {
        var metadata = Metadata()
        metadata.flags = 0x80
        metadata.headrooms = [3, 1, 1, 1]
        metadata.channels += [[0, 1, 1, 1, 2, 1, 0, 1, 0, 1], [0, 1, 5, 1, 3, 1, 0, 1, 0, 1]]
        let read = try GainMapParameters(iso: metadata.bytes[...])
        #expect(read.channels.map(\.gamma) == [0.5, 2, 3])
        #expect(read.isBaseHDR && !read.usesBaseColorSpace)
        var common: [UInt8] = [0, 0, 0, 0, 0x48]
        for number in [10, 0, 13, -5, 20, 10, 1, 1] { common += (number & 0xffff_ffff).bigEndian(4) }
        let shared = try GainMapParameters(iso: common[...])
        #expect(shared.alternateHeadroom == 1.3 && shared.channels.first?.minimum == -0.5)
        #expect(shared.channels.first?.gamma == 1)
    }

    @Test("Anything cut off, and anything but zeros after a version that is read, is refused")
    func lengths() {
        let whole = Metadata().bytes
        for count in 0..<whole.count {
            #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: whole.prefix(count)) } != nil)
        }
        #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: (whole + [0])[...]) } != nil)
        var later = Metadata()
        later.versions = [0, 99]
        #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: (later.bytes + [7])[...]) } == nil)
        later.versions = [1, 99]
        #expect(
            fault { () throws(GainMapFault) in try GainMapParameters(iso: later.bytes[...]) }?.contains("version 1")
                == true)
        #expect(fault { () throws(GainMapFault) in try GainMapParameters(toneMapped: [99] + whole) } != nil)
        #expect(fault { () throws(GainMapFault) in try GainMapParameters(toneMapped: []) } != nil)
    }

    @Test("Zero denominators, a gamma of zero and a minimum above the maximum are refused")
    func rules() {
        for index in [1, 3] {
            var metadata = Metadata()
            metadata.headrooms[index] = 0
            #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: metadata.bytes[...]) } != nil)
        }
        for index in [1, 3, 5, 7, 9] {
            var metadata = Metadata()
            metadata.channels[0][index] = 0
            #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: metadata.bytes[...]) } != nil)
        }
        var metadata = Metadata()
        metadata.channels[0][4] = 0
        #expect(
            fault { () throws(GainMapFault) in try GainMapParameters(iso: metadata.bytes[...]) } == "its gamma is 0.0")
        metadata.channels[0] = [3, 1, 2, 1, 1, 1, 0, 1, 0, 1]
        #expect(fault { () throws(GainMapFault) in try GainMapParameters(iso: metadata.bytes[...]) } != nil)
        for numbers in [(Double.nan, 1.0), (.infinity, 1), (-1, 1), (0, .nan)] {
            #expect(
                fault { () throws(GainMapFault) in
                    try GainMapParameters(
                        checking: [], base: numbers.0, alternate: numbers.1, usesBaseColorSpace: true)
                } != nil)
        }
    }

    private func adobe(_ attributes: String, _ elements: String = "") throws(GainMapFault) -> GainMapParameters {
        let packet = GainMapFixture.packet(attributes, elements: elements)
        return try GainMapXMP(Array(packet.utf8)[...]).adobeParameters()
    }

    @Test("Adobe's properties as attributes, elements and lists, with their defaults")
    func properties() throws {
        let plain = try adobe(#"hdrgm:Version="1.0""#)
        let standard = GainMapParameters.Channel(
            minimum: 0, maximum: 1, gamma: 1, baseOffset: 0.015625, alternateOffset: 0.015625)
        #expect(plain.channels == [standard])
        #expect(plain.baseHeadroom == 0 && plain.alternateHeadroom == 1)
        let rich = try adobe(
            #"hdrgm:Version="1.0" hdrgm:BaseRenditionIsHDR="True" hdrgm:OffsetSDR='0.5' hdrgm:OffsetHDR="0""#,
            """
            <hdrgm:HDRCapacityMax>3.5</hdrgm:HDRCapacityMax>
            <hdrgm:GainMapMax><rdf:Seq><rdf:li>3.5</rdf:li><!-- <rdf:li>9</rdf:li> --><rdf:li> 3.6
            </rdf:li><rdf:li>3.7</rdf:li></rdf:Seq></hdrgm:GainMapMax>
            """)
        #expect(rich.channels.map(\.maximum) == [3.5, 3.6, 3.7])
        #expect(rich.baseHeadroom == 3.5 && rich.alternateHeadroom == 0 && rich.isBaseHDR)
        #expect(rich.channels.map(\.baseOffset) == [0, 0, 0])
        #expect(rich.channels.map(\.alternateOffset) == [0.5, 0.5, 0.5])
    }

    @Test(
        "Adobe's properties that break a rule are refused",
        arguments: [
            #"hdrgm:Version="2.0""#, #"hdrgm:Version="1.0" hdrgm:Gamma="0""#, #"hdrgm:Version="1.0" hdrgm:Gamma="nan""#,
            #"hdrgm:Version="1.0" hdrgm:GainMapMax="-1""#, #"hdrgm:Version="1.0" hdrgm:OffsetSDR="-1""#,
            #"hdrgm:Version="1.0" hdrgm:HDRCapacityMax="0""#, #"hdrgm:Version="1.0" hdrgm:HDRCapacityMin="-1""#,
            #"hdrgm:Version="1.0" hdrgm:HDRCapacityMax="inf""#, #"hdrgm:Version="1.0" hdrgm:Gamma="1 2""#,
            #"hdrgm:Version="1.0" hdrgm:BaseRenditionIsHDR="yes""#,
        ])
    func refusedProperties(_ attributes: String) {
        #expect(fault { () throws(GainMapFault) in try adobe(attributes) } != nil)
    }

    @Test("Two values of a property are neither one nor three")
    func twoValues() {
        let list = "<hdrgm:Gamma><rdf:Seq><rdf:li>1</rdf:li><rdf:li>2</rdf:li></rdf:Seq></hdrgm:Gamma>"
        #expect(fault { () throws(GainMapFault) in try adobe(#"hdrgm:Version="1.0""#, list) } != nil)
    }

    @Test("A packet that is cut off anywhere, nested deeply or full of attributes ends soon")
    func hostilePackets() {
        let packet = Array(GainMapFixture.packet(#"hdrgm:Version="1.0" hdrgm:Gamma="2""#).utf8)
        for count in packet.indices { _ = XMPProperties(packet.prefix(count)) }
        let deep = [UInt8](String(repeating: "<a>", count: 100_000).utf8)
        #expect(XMPProperties(deep[...]).all.count == 64)
        let wide = [UInt8](("<a " + String(repeating: "b='c' ", count: 100_000) + ">").utf8)
        #expect(XMPProperties(wide[...]).all.count <= 5000)
        let comments = [UInt8](String(repeating: "<!--", count: 200_000).utf8)
        #expect(XMPProperties(comments[...]).all.isEmpty)
    }
}
