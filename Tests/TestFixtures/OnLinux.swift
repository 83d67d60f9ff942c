package import Testing

#if LINUX
private let isLinux = true
#else
private let isLinux = false
#endif

extension Trait where Self == ConditionTrait {
    /// Leaves tests out where what only Linux has isn't compiled.
    package static var onLinux: Self { .enabled(if: isLinux, "only Linux has it") }
}
