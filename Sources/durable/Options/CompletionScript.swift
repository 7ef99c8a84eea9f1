#if Shell
  import ArgumentParser

  /// The parser's scripts by which shells complete this command, with what the parser has no words for: what belongs to a
  /// command of somebody else's is completed as the shell does it, and so is all for which nothing else is known.
  enum CompletionScript {
    /// For an argument that is the words of a command.
    static let ofCommand = CompletionKind.shellCommand(mark)
    private static let mark = "words of a command"

    /// `text`, which is a script or anything else that is printed.
    static func completed(_ text: String) -> String {
      if text.hasPrefix("#!/bin/bash") {
        return text.replacing(#"__durable_add_completions -W "$(eval '\#(mark)')""#, with: bashCall)
          .replacing("complete -o filenames -F _durable durable", with: bash)
      }
      if text.hasPrefix("#compdef durable") {
        return text.replacing(
          #/'\*:cmd:\{local -a list;[^\n]*words of a command[^\n]*\}'/#, with: "'(-)*::cmd:_normal'"
        ).replacing("\n_durable() {\n", with: "\n_durable() {\n\(zsh)\n")
          // The parser's are completed in the next word alone, and not behind `=`.
          .replacing(#/(['*,{]--[a-z0-9\-]+)((?:,-[A-Za-z])*(?:\}')?\[(?:\\.|[^\]\\\n])*\]:)/#) { "\($0.1)=\($0.2)" }
      }
      guard text.hasPrefix("function __durable_") else { return text }
      let words = #"__durable_should_offer_completions_for_positional "durable add""#
      return text.replacing(
        "'\(words) -ge 1' -fka '(\(mark))'",
        with: """
          '\(words) -eq 1; and not __durable_has_command' -kfa '(__fish_complete_command)'
          complete -c 'durable' -n '\(words) -gt 1; and not __durable_has_command' -F
          """
      ).replacing(
        #/(function __durable_complete_directories\n).*?\nend/#.dotMatchesNewlines(), with: { "\($0.1)\(folders)\nend" }
      ) + "\n\(fish)\n"
    }

    private static let bashCall = #"__durable_complete_command "${positional_number}""#

    /// The parser does not know of what stands behind `--` in these verbs.
    private static let bash = #"""
      # The first word of a command is what can be run, the others are files.
      __durable_complete_command() {
          if [[ "${1}" -le 1 ]]; then
              __durable_add_completions -c
          else
              __durable_add_completions -f
          fi
      }

      _durable_or_command() {
          local -i index
          case "${COMP_WORDS[1]}" in
          add|edit|schedule|batch)
              for ((index = 2; index < COMP_CWORD; index++)); do
                  if [[ "${COMP_WORDS[index]}" = -- ]]; then
                      local -r cur="${2}"
                      __durable_complete_command "$((COMP_CWORD - index))"
                      return
                  fi
              done
              ;;
          esac
          # Bash takes --option=value for three words.
          if [[ "${3}" == "=" ]]; then
              _durable "${1}" "${2}" "${COMP_WORDS[COMP_CWORD - 2]}"
          else
              _durable "${@}"
          fi
      }

      complete -o bashdefault -o default -o filenames -F _durable_or_command durable
      """#

    private static let zsh = #"""
          # The parser does not know of what stands behind `--` in these verbs.
          if [[ "${words[2]}" == (add|edit|schedule|batch) ]]; then
              local -i dashes="${words[(ie)--]}"
              if (( dashes < CURRENT )); then
                  shift "${dashes}" words
                  (( CURRENT -= dashes ))
                  _normal
                  return
              fi
          fi
      """#

    private static let fish = #"""
      # The parser does not know of what stands behind `--` in these verbs.
      function __durable_has_command
          set -l words (commandline -opc)
          contains -- -- $words; and contains -- "$words[2]" add edit schedule batch
      end

      function __durable_complete_command
          set -l words (commandline -opc)
          set -l command (string escape -- $words[(math 1 + (contains -i -- -- $words))..]) (commandline -ct)
          complete -C "$command"
      end

      complete -c 'durable' -n __durable_has_command -kfa '(__durable_complete_command)'
      """#

    /// Of a path that begins with `~`, too, and of one behind `--option=`.
    private static let folders = #"""
          __fish_complete_directories (string replace -r -- '^--[a-z-]+=' '' (commandline -ct)) ''
      """#
  }
#endif
