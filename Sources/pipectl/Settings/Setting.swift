/// An option whose default a user may set: in a file, or in the environment, which counts more.
struct Setting: Sendable {
    /// As on the command line, without the dashes.
    let name: String
    /// Whether it takes no value.
    var isFlag = false

    /// All of them; an option that excludes others has no place here.
    static let all = [
        Setting(name: "allow-truncated", isFlag: true), Setting(name: "cache-dir"), Setting(name: "color"),
        Setting(name: "effort"), Setting(name: "format"),
        Setting(name: "frames"), Setting(name: "jobs"), Setting(name: "lossless", isFlag: true),
        Setting(name: "max-bytes"),
        Setting(name: "max-pixels"), Setting(name: "memory"), Setting(name: "metadata"), Setting(name: "policy"),
        Setting(name: "progressive", isFlag: true), Setting(name: "public-only", isFlag: true),
        Setting(name: "quality"),
    ]

    /// The variable that sets it, such as `PIPECTL_CACHE_DIR`.
    var variable: String { "PIPECTL_" + name.uppercased().replacing("-", with: "_") }
}
