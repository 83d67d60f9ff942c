import CSandbox

/// What confines the processes that decode.
///
/// A worker applies all of it before it sees the first byte of an image, and can't undo it.
public struct Confinement: OptionSet, Sendable, Hashable {
    /// The measures, a bit each.
    public let rawValue: Int32

    /// Makes a set from its bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No program that a worker could run gains privileges.
    package static let noNewPrivileges = Confinement(CSANDBOX_NO_NEW_PRIVILEGES)
    /// Other processes of the same user can't read a worker's memory, and a crash leaves no core file.
    package static let notDumpable = Confinement(CSANDBOX_NOT_DUMPABLE)
    /// A worker is killed when the program ends, however it ends.
    package static let diesWithParent = Confinement(CSANDBOX_DIES_WITH_PARENT)
    /// A worker has no descriptor but its channel and can get no other.
    package static let noDescriptors = Confinement(CSANDBOX_NO_DESCRIPTORS)
    /// Memory and processor time are limited. A lower limit that the program has from its own caller stays in force.
    package static let limits = Confinement(CSANDBOX_LIMITS)
    /// No file can be opened, listed, made or run (Landlock, Linux 5.13).
    package static let noFiles = Confinement(CSANDBOX_NO_FILES)
    /// No TCP connection can be made or accepted (Landlock, Linux 6.7). ``filteredCalls`` forbids all sockets too.
    package static let noTCP = Confinement(CSANDBOX_NO_TCP)
    /// No abstract socket and no other process can be reached (Landlock, Linux 6.12). ``filteredCalls`` forbids both too.
    package static let scoped = Confinement(CSANDBOX_SCOPED)
    /// System calls that decoders don't need fail (seccomp): those for programs, processes, sockets, files and executable
    /// memory.
    package static let filteredCalls = Confinement(CSANDBOX_FILTERED_CALLS)

    /// A worker has no capability, even if the program is root's.
    public static let noCapabilities = Confinement(CSANDBOX_NO_CAPABILITIES)
    /// A worker isn't root's: of a program of root's, it is the user nobody's. It stays root's in a container that lacks the
    /// capabilities to change users or to end another user's processes, such as after `docker run --cap-drop ALL`.
    public static let notRoot = Confinement(CSANDBOX_NOT_ROOT)
    /// The helper counts a worker's threads and refuses more than any library starts (seccomp). It can't where `/proc` hides
    /// processes (`hidepid`, `ProtectProc=invisible`) or where a container's supervisor watches system calls itself.
    public static let countedThreads = Confinement(CSANDBOX_COUNTED_THREADS)

    /// What ``ConfinementPolicy/required`` asks for. `noTCP` and `scoped` aren't part of it, since older kernels lack
    /// them and `filteredCalls` covers them. Nor are ``notRoot`` and ``countedThreads``, which some containers can't have.
    public static let required: Confinement = [
        .noNewPrivileges, .notDumpable, .diesWithParent, .noDescriptors, .limits, .noFiles, .filteredCalls,
        .noCapabilities,
    ]

    /// Everything that there is.
    static let all: Confinement = [.required, .noTCP, .scoped, .notRoot, .countedThreads]

    private init(_ measure: csandbox_measure) { rawValue = Int32(measure.rawValue) }

    private static let names: [(Confinement, String)] = [
        (.noNewPrivileges, "no new privileges"), (.notDumpable, "not dumpable"),
        (.diesWithParent, "ends with the program"), (.noDescriptors, "no descriptors"), (.limits, "limits"),
        (.noFiles, "no files (Landlock)"), (.noTCP, "no TCP (Landlock)"), (.scoped, "no other processes (Landlock)"),
        (.filteredCalls, "filtered system calls (seccomp)"), (.noCapabilities, "no capabilities"),
        (.notRoot, "not root"), (.countedThreads, "counted threads"),
    ]
}

extension Confinement: CustomStringConvertible {
    /// The measures in words, such as `no new privileges, limits`; `nothing` for the empty set.
    public var description: String {
        isEmpty ? "nothing" : Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

/// What a pool does on a system that can't confine its workers fully.
public enum ConfinementPolicy: String, Sendable, Hashable, CaseIterable {
    /// It refuses to start.
    case required
    /// It starts, and warns once.
    case bestEffort
}
