/**
 * Completion scripts. Each calls `longshore complete`, which prints lines of a word, a tab and a
 * description. Typed words are passed on and never evaluated. Without completions the shell
 * completes file names. The zsh script can be sourced or placed in `fpath`, where the file is the
 * function itself. bash splits words at colons, which definition keys may contain, so only the last
 * part is returned.
 */
export const SHELL_SCRIPTS = {
  bash: `_longshore() {
  local IFS=$'\\n' word last= stem=
  local -a words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ "$last" == *: || ( -n "$last" && "$word" == :* ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    last=$word
  done
  last=\${words[\${#words[@]}-1]}
  if [[ "$COMP_WORDBREAKS" == *:* ]]; then stem=\${last%"\${last##*:}"}; fi
  COMPREPLY=($(longshore complete -- "\${words[@]}" 2>/dev/null | cut -f1))
  COMPREPLY=("\${COMPREPLY[@]#"$stem"}")
}
complete -o default -F _longshore longshore
`,
  zsh: `#compdef longshore
_longshore() {
  local -a found
  found=("\${(@f)$(longshore complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found//:/\\\\:}")
  found=("\${(@)found//$'\\t'/:}")
  if [[ -n "$found" ]]; then _describe longshore found; else _files; fi
}
if [[ "$funcstack[1]" == _longshore ]]; then _longshore "$@"; else compdef _longshore longshore; fi
`,
  fish: `function __longshore_complete
    set -l found (longshore complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if set -q found[1]
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c longshore -f -a '(__longshore_complete)'
`,
} as const;

export type Shell = keyof typeof SHELL_SCRIPTS;

export const SHELLS = Object.keys(SHELL_SCRIPTS) as Shell[];

/** How to install the script, per shell. */
export const INSTALL_HINTS: Record<Shell, string> = {
  bash: "echo 'source <(longshore completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(longshore completion zsh)' >> ~/.zshrc   # after compinit",
  fish: 'longshore completion fish > ~/.config/fish/completions/longshore.fish',
};
