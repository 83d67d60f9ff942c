import Pipeline

extension Decode {
    /// What becomes of the gamut, the depth, HDR and the gain map of a source, for requests that choose nothing. A sentence
    /// for each, which names the stage that loses it.
    package var fates: [String] { [gamutFate, depthFate, rangeFate, gainMapFate] }

    /// Whether the list makes pixels for a program, which are in sRGB with 8 bits unless more is asked for.
    private var endsInPixels: Bool { !ahead.endInBytes }

    private var gamutFate: String {
        if gamut == .sRGB { return "Colours become sRGB, as chosen." }
        if gamut == nil, endsInPixels { return "Colours become sRGB, since the list ends in pixels." }
        return ahead.stageConvertingColors.map { "Colours become sRGB, since \($0) takes no others." }
            ?? "Colours stay in the source's gamut."
    }

    private var depthFate: String {
        if depth == .eight { return "A channel gets 8 bits, as chosen." }
        if depth == nil, endsInPixels { return "A channel gets 8 bits, since the list ends in pixels." }
        return ahead.stageReducingDepth.map { "A channel gets 8 bits, since \($0) takes no more." }
            ?? "A channel keeps up to 16 bits."
    }

    private var rangeFate: String {
        let sdr = "HDR becomes SDR"
        if gamut == .sRGB || depth == .eight { return "\(sdr), as chosen." }
        if gamut == nil || depth == nil, endsInPixels { return "\(sdr), since the list ends in pixels." }
        return ahead.stageLosingHDR.map { "\(sdr), since \($0) doesn't take it." } ?? "HDR stays HDR."
    }

    private var gainMapFate: String {
        let dropped = "A gain map is dropped"
        switch gainMap {
        case .drop: return "\(dropped), as chosen."
        case .apply:
            if gamut == .sRGB || depth == .eight { return "\(dropped), since sRGB or 8 bits are chosen." }
            return ahead.stageLosingHDR.map { "\(dropped), since \($0) doesn't take HDR." }
                ?? "A gain map is applied, which makes HDR."
        case nil where endsInPixels: return "\(dropped), since the list ends in pixels."
        case nil, .keep:
            return ahead.stageDroppingGainMap.map { "\(dropped), since \($0) doesn't keep it." }
                ?? "A gain map is kept."
        }
    }
}
