/**
 * What a shell runs to complete a line. Each asks `longshore complete`, which knows the commands, and
 * gets lines of a word, a tab and what it means. The words that were typed are passed on as they are
 * and never evaluated. Where nothing is offered, the shell goes on with names of files.
 */
export const SHELL_SCRIPTS = {
  bash: `_longshore() {
  local IFS=$'\\n'
  COMPREPLY=($(longshore complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
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
compdef _longshore longshore
`,
  fish: `complete -c longshore -a '(longshore complete -- (commandline -opc)[2..] (commandline -ct))'
`,
} as const;

export type Shell = keyof typeof SHELL_SCRIPTS;

export const SHELLS = Object.keys(SHELL_SCRIPTS) as Shell[];

/** Where the script goes, for each shell in its own way. */
export const INSTALL_HINTS: Record<Shell, string> = {
  bash: "echo 'source <(longshore completion bash)' >> ~/.bashrc",
  zsh: "echo 'source <(longshore completion zsh)' >> ~/.zshrc   # after compinit",
  fish: 'longshore completion fish > ~/.config/fish/completions/longshore.fish',
};
