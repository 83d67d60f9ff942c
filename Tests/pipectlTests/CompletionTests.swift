import Foundation
import Testing

@Suite("Completions")
struct CompletionTests {
    private let pipectl: Pipectl

    /// What stands on the line when Tab is pressed, and what has to be offered for it.
    static let lines = [
        ("thumb ph", "photo one.jpg"), ("thumb x -o ph", "photo one.jpg"), ("convert x ph", "photo one.jpg"),
        ("info ph", "photo one.jpg"), ("batch fo", "folder"), ("load ph", "photo one.jpg"),
        ("srcset ph", "photo one.jpg"), ("compare x ph", "photo one.jpg"), ("strip ph", "photo one.jpg"),
        ("montage ph", "photo one.jpg"), ("montage x -o ph", "photo one.jpg"), ("thumb x --frames a", "all"),
        ("run x --pipeline li", "list.yaml"), ("cache stats --cache-dir fo", "folder"),
        ("batch x --journal ph", "photo one.jpg"), ("batch --files0-from li", "list.yaml"), ("th", "thumb"),
        ("cache ve", "verify"), ("help th", "thumb"), ("thumb x -f we", "webp"), ("srcset x -f av", "avif"),
        ("thumb x --crop at", "attention"), ("load x --policy ig", "ignoreCache"), ("thumb x --color ne", "never"),
        ("thumb x --metadata co", "copyright"), ("run x --ops sh", "sharpen"), ("help stages cro", "crop"),
        ("thumb pi", "pic.PNG"), ("batch pi", "pic.PNG"), ("compare x pi", "pic.PNG"), ("convert pi", "pic.PNG"),
        ("thumb x -o no", "notes.txt"),
    ]

    init() throws {
        pipectl = try Pipectl()
        for name in ["photo one.jpg", "list.yaml", "pic.PNG", "pic.txt", "notes.txt"] {
            try Data("x".utf8).write(to: pipectl.folder.appending(path: name))
        }
        try FileManager.default.createDirectory(atPath: pipectl.path("folder"), withIntermediateDirectories: true)
    }

    @Test("bash completes files, folders, verbs and values", .withProgram("bash"))
    func bash() async throws {
        for (line, expected) in Self.lines {
            let result = try await pipectl.shell(
                """
                pipectl --generate-completion-script bash >c.bash
                exec bash --norc -c 'source ./c.bash; read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$((${#COMP_WORDS[@]}-1))
                COMP_LINE=$1; COMP_POINT=${#1}; _pipectl pipectl "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
                printf "%s\\n" "${COMPREPLY[@]}"' bash 'pipectl \(line)'
                """)
            #expect(result.lines == [expected], "\(line): \(result.text) \(result.errors)")
        }
    }

    @Test(
        "bash completes the value behind an equals sign, which it makes a word of its own",
        .withProgram("bash"),
        arguments: [("--format=we", "webp"), ("--color=", "auto always never"), ("--crop=att", "attention")])
    func equals(option: String, expected: String) async throws {
        let result = try await pipectl.shell(
            """
            pipectl --generate-completion-script bash >c.bash
            exec bash --norc -c 'source ./c.bash; IFS="|" read -ra COMP_WORDS <<<"$2"; COMP_CWORD=$((${#COMP_WORDS[@]}-1))
            COMP_LINE=$1; COMP_POINT=${#1}; word=${COMP_WORDS[-1]}; [ "$word" = = ] && word=
            _pipectl pipectl "$word" "${COMP_WORDS[-2]}"
            echo "${COMPREPLY[@]}"' bash 'pipectl thumb x \(option)' 'pipectl|thumb|x|\(option.replacing("=", with: "|=|"))'
            """)
        #expect(result.lines == [expected], "\(result.text) \(result.errors)")
    }

    @Test("fish parses a line once for all of its conditions", .withProgram("fish"))
    func parsesOnce() async throws {
        let result = try await pipectl.shell(
            """
            pipectl --generate-completion-script fish >c.fish
            exec fish --no-config -c 'source c.fish; functions -c __pipectl_parse_tokens original
            function __pipectl_parse_tokens -S; echo parsed >>parses; original; end
            complete -C "pipectl thumb x --fo"; cat parses | count'
            """, environment: ["HOME": pipectl.folder.path])
        #expect(result.lines.last == "1" && result.text.contains("--format"), "\(result.text) \(result.errors)")
    }

    @Test("fish completes files, folders, verbs and values", .withProgram("fish"))
    func fish() async throws {
        for (line, expected) in Self.lines {
            let result = try await pipectl.shell(
                """
                pipectl --generate-completion-script fish >c.fish
                exec fish --no-config -c 'source c.fish; complete -C "$argv[1]"' 'pipectl \(line)'
                """, environment: ["HOME": pipectl.folder.path])
            let offered = result.lines.map { $0.split(separator: "\t").first.map(String.init) ?? "" }
            #expect(offered == [expected] || offered == [expected + "/"], "\(line): \(result.text) \(result.errors)")
        }
    }

    @Test("zsh completes files, folders, verbs and values", .withProgram("zsh"))
    func zsh() async throws {
        for (line, expected) in Self.lines {
            // Completion needs a terminal: the shell runs in one of zsh's own, and says what became of its line.
            let result = try await pipectl.shell(
                """
                mkdir -p site; pipectl --generate-completion-script zsh >site/_pipectl
                cat >inner <<'END'
                PS1=; unsetopt beep; fpath=($PWD/site $fpath); autoload -Uz compinit; compinit -u -D
                say() { print -r -- "LINE:$BUFFER:" ; zle .send-break }; zle -N say; bindkey '^X' say
                print READY
                END
                exec zsh -f -c 'zmodload zsh/zpty; zpty z zsh -f -i; zpty -w z "source ./inner"; zpty -r z out "*READY*"
                zpty -w -n z "$1"$'"'\\\\t\\\\x18'"'; zpty -r z out "*LINE:*:*"; print -r -- "$out"' zsh 'pipectl \(line)'
                """, environment: ["TERM": "dumb"])
            let escaped = expected.replacing(" ", with: "\\ ")
            #expect(result.text.contains(escaped), "\(line): \(result.text) \(result.errors)")
        }
    }
}
