import Foundation
import TestFixtures
import Testing

@testable import PipelineCommand

@Suite("The lists of packages")
struct PackagesTests {
    private static func lines(_ name: String) throws -> [String] {
        let text = try String(contentsOf: Repository.folder.appending(path: name), encoding: .utf8)
        return text.replacing("\\\n", with: " ").components(separatedBy: "\n")
    }

    private static func packages(_ line: String?) -> Set<String> {
        Set(
            (line ?? "").split { " &|".contains($0) }.map(String.init).filter {
                $0.contains(/^(lib|zlib|pkg-config|ca-c|fonts)/)
            })
    }

    @Test(
        "the README, the Dockerfiles and the Makefile name the same",
        arguments: ["Dockerfile", "Examples/ImageServer/Deployment/Dockerfile"])
    func agree(file: String) throws {
        let readme = try Self.lines("README.md").filter { $0.hasPrefix("apt-get install") }.map { Self.packages($0) }
        let docker = try Self.lines(file).filter { $0.contains("apt-get install") }.map { Self.packages($0) }
        let make = Self.packages(try Self.lines("Makefile").first { $0.hasPrefix("PACKAGES") })
        try #require(readme.count == 2 && docker.count == 2)
        #expect(readme[0] == make)
        #expect(docker[0] == make)
        #expect(readme[1] == docker[1])
    }

    @Test(
        "those for running have every library that the command links to or loads",
        .withProgram("dpkg-query"))
    func complete() async throws {
        let runtime = Self.packages(try Self.lines("README.md").filter { $0.hasPrefix("apt-get install") }.last)
        let tool = try Pipectl()
        let names = Library.all.map(\.file).joined(separator: " ")
        let result = try await tool.shell(
            """
            export LC_ALL=C
            # All that the packages bring with them, as far as it is installed here.
            all=; next='\(runtime.sorted().joined(separator: " "))'
            while [ -n "$next" ]; do
                all="$all $next"
                needed=$(dpkg-query -W -f='${Depends},${Pre-Depends},' $next 2>/dev/null | tr ',|' '\\n\\n' |
                    sed 's/(.*//; s/:.*//; s/ //g' | sort -u)
                next=; for name in $needed; do case " $all " in *" $name "*) ;; *) next="$next $name";; esac; done
            done
            paths=$(ldd "$(command -v pipectl)" | sed -n 's/.* => \\(\\/[^ ]*\\) .*/\\1/p' | grep -v -i swift)
            for name in \(names); do
                path=$(ldconfig -p | sed -n "s/.*\\b$name .* => //p" | head -n 1)
                [ -n "$path" ] && paths="$paths $path"
            done
            for path in $paths; do
                package=$(dpkg-query -S "$(readlink -f "$path")" 2>/dev/null || dpkg-query -S "$path" 2>/dev/null) || continue
                package=${package%%:*}
                case " $all libc6 libgcc-s1 libstdc++6 " in *" $package "*) ;; *) echo "$package for $path";; esac
            done
            """)
        #expect(result.text.isEmpty, "missing in the README: \(result.text)")
    }

    @Test("make uninstall removes what make install made, and nothing else", arguments: [true, false])
    func uninstall(isStaged: Bool) async throws {
        let tool = try Pipectl()
        let place = isStaged ? "DESTDIR=$PWD/root PREFIX=/usr/local" : "PREFIX=$PWD/root/local"
        let result = try await tool.shell(
            """
            set -e
            mkdir -p extras/man1 extras/man5 extras/man8 root
            touch extras/man1/pipectl.1 extras/man5/pipectl-pipeline.5 extras/man8/pipeline-decoder.8 extras/pipectl.bash \
                extras/pipectl.zsh extras/pipectl.fish
            run() {
                make -s -C '\(Repository.folder.path)' $1 \(place) BINARY=/bin/true DECODER=/bin/true EXTRAS=$PWD/extras
            }
            run install
            find root -type f | wc -l
            run uninstall
            echo left: $(find root -mindepth 1)
            run install
            touch "$(find root -name share)/other"
            run uninstall
            echo left: $(find root -type f)
            """)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.contains("8"), "\(result.text)")
        #expect(result.lines.filter { $0.hasPrefix("left:") }.first == "left:", "\(result.text)")
        #expect(result.lines.filter { $0.hasPrefix("left:") }.last?.hasSuffix("/share/other") == true, "\(result.text)")
    }
}
