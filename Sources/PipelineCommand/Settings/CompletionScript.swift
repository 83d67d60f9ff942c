import ArgumentParser
import PipelineImages

/// The completion script of a shell, as ArgumentParser writes it, with what it lacks.
enum CompletionScript {
    /// The script with one `help` in it, that parses a line only once in fish, and completes `--option=value` in bash.
    static func completed(_ script: String) -> String {
        if script.hasPrefix("#!/bin/bash") { return withOneHelp(script).replacingLines(bash) }
        return script.contains("complete -c '\(Program.name)'")
            ? withOneHelp(script).replacingLines(fish) : withOneHelp(script)
    }

    /// ArgumentParser lists a `help` of its own next to ``HelpVerb``, which completes nothing.
    private static func withOneHelp(_ script: String) -> String {
        var isFirst = true
        return script.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("Show subcommand help information.") }
            .map { line in
                guard line == "_\(Program.identifier)_help() {" else { return String(line) }
                defer { isFirst = false }
                // The later function would replace the one that completes.
                return isFirst ? String(line) : "_\(Program.identifier)_other_help() {"
            }
            .joined(separator: "\n")
    }

    /// bash makes the equals sign of `--option=value` a word of its own.
    private static let bash = [
        (
            #"    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")"#,
            #"""
                local -a unparsed_words=()
                local word
                for word in "${COMP_WORDS[@]:1:${COMP_CWORD}}"; do [[ "${word}" = '=' ]] || unparsed_words+=("${word}"); done
                [[ "${COMP_WORDS[COMP_CWORD]}" = '=' ]] && unparsed_words+=('')
            """#
        ),
        (#"    local -r cur="${2}""#, #"    local -r cur="${2#=}""#),
        (
            #"    local -r prev="${3}""#,
            #"""
                local prev="${3}"
                [[ "${prev}" = '=' ]] && prev="${COMP_WORDS[COMP_CWORD - 2]}"
            """#
        ),
    ]

    /// There are hundreds of conditions, and each would parse the line again.
    private static var fish: [(String, String)] {
        let name = "__\(Program.identifier)"
        let begin = """
                set -l non_repeating_flags_or_options
                set -l non_repeating_flags_or_options_absent 0
                set -l positional_index 0
                set -l commands
                \(name)_parse_tokens
            """
        return [
            (
                """
                function \(name)_should_offer_completions_for_flags_or_options -a expected_commands
                    set -l non_repeating_flags_or_options $argv[2..]
                    set -l non_repeating_flags_or_options_absent 0
                    set -l positional_index 0
                    set -l commands
                    \(name)_parse_tokens
                    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
                end
                """,
                """
                function \(name)_parse_line
                    set -l line (commandline -pc)
                    test "$line" = "$\(name)_line"; and return
                    set -g \(name)_line $line
                    set -g \(name)_flags
                \(begin)
                    set -g \(name)_commands "$commands"
                    set -g \(name)_index $positional_index
                end

                function \(name)_should_offer_completions_for_flags_or_options -a expected_commands
                    \(name)_parse_line
                    test "$\(name)_commands" = "$expected_commands"; or return 1
                    for flag in _flag_(string replace -a - _ -- $argv[2..])
                        contains -- $flag $\(name)_flags; and return 1
                    end
                    return 0
                end
                """
            ),
            (
                begin + "\n"
                    + #"    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)"#,
                """
                    \(name)_parse_line
                    test "$\(name)_commands" = "$expected_commands"
                    and test "$\(name)_index" "$positional_index_comparison" "$expected_positional_index"
                """
            ),
            (
                """
                        for non_repeating_flag_or_option in $non_repeating_flags_or_options
                            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                                set non_repeating_flags_or_options_absent 1
                                break
                            end
                        end
                """,
                "        set -a \(name)_flags (set -nl | string match '_flag_*')"
            ),
        ]
    }
}

extension String {
    /// The text with other lines in the place of some.
    fileprivate func replacingLines(_ changes: [(String, String)]) -> String {
        changes.reduce(self) { $0.replacing($1.0, with: $1.1) }
    }
}

extension CompletionKind {
    /// Files whose extensions are an image's, in lower or upper case, and folders.
    static var images: CompletionKind {
        let extensions = ImageCodecs.known.codecs.flatMap(\.extensions)
        return .file(extensions: extensions + extensions.map { $0.uppercased() })
    }
}
