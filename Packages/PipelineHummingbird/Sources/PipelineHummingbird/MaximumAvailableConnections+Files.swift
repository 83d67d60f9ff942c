#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
public import HummingbirdCore

extension MaximumAvailableConnections {
    /// As many connections as the system gives files to, with some left for all other work. The process's limit of open files
    /// is raised as far as the system allows.
    /// - Parameter most: The most connections in any case.
    public init(fittingFiles most: Int) {
        #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0 else {
            self.init(most)
            return
        }
        limits.rlim_cur = limits.rlim_max
        // Of a limit that can't be raised the one from before counts.
        if setrlimit(resource, &limits) != 0 { getrlimit(resource, &limits) }
        let files = Int(clamping: limits.rlim_cur)
        self.init(max(8, min(most, files - min(256, files / 2))))
    }
}
