import { execFile, spawnSync } from 'node:child_process';
import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHELL_SCRIPTS } from '../../src/cli/text/shell-scripts.ts';
import { compileCache } from '../support/compile-cache.ts';
import { json, playAnswers } from '../support/servers/playing-server.ts';
import { BIN } from '../support/processes.ts';

/** The scripts of `longshore completion`, each in the shell that it is for. */

const has = (shell: string) => spawnSync(shell, ['--version']).error === undefined;
const PATIENCE_MS = 60_000;
/** Typed as a word, it must stay one. */
const COMMAND = '$(touch evaluated)';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-completion-'));
  await mkdir(join(folder, 'bin'));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${BIN}" "$@"\n`;
  await writeFile(join(folder, 'bin/longshore'), program, { mode: 0o755 });
});
afterAll(async () => await rm(folder, { recursive: true }));

/** Runs a shell beside a server that knows one definition; answers with the lines that it printed. */
async function linesOf(shell: string, args: readonly string[]): Promise<string[]> {
  const { url } = await playAnswers(json(200, { definitions: [{ key: 'team:mail.send' }] }));
  const { stdout } = await promisify(execFile)(shell, args, {
    cwd: folder,
    timeout: PATIENCE_MS,
    env: {
      PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
      HOME: folder,
      ZDOTDIR: folder,
      TERM: 'dumb',
      LONGSHORE_URL: url,
      ...compileCache(),
    },
  });
  return stdout.split('\n').slice(0, -1);
}

const expectNothingEvaluated = async () =>
  await expect(access(join(folder, 'evaluated'))).rejects.toThrow('ENOENT');

it('bash offers words, also where it has taken one apart, and evaluates none', async () => {
  const tab = async (...words: string[]) => {
    const typed = words.map((word) => `'${word}'`).join(' ');
    const source = `${SHELL_SCRIPTS.bash}
      COMP_WORDS=(longshore ${typed}); COMP_CWORD=${words.length}; _longshore
      [[ -z "\${COMPREPLY[0]}" ]] || printf '%s\\n' "\${COMPREPLY[@]}"`;
    return await linesOf('bash', ['-c', source]);
  };
  expect(await tab('sched')).toEqual(['scheduler', 'schedules']);
  expect(await tab('enqueue', 'team', ':', 'mail.s')).toEqual(['mail.send']);
  expect(await tab('enqueue', COMMAND)).toEqual([]);
  await expectNothingEvaluated();
});

describe.skipIf(!has('zsh'))('zsh', () => {
  /** What the line becomes when the tab key is pressed at a real prompt. */
  async function pressTab(setUp: string, lines: readonly string[]): Promise<string[]> {
    await writeFile(
      join(folder, '.zshrc'),
      `PS1=
      autoload -Uz compinit
      ${setUp}
      # By default the key expands a word before it completes it, whatever the command is.
      bindkey '^I' complete-word
      show() { print -r -- "<<$BUFFER>>"; zle kill-buffer }
      zle -N show
      bindkey '^X^B' show\n`,
    );
    const driver = `zmodload zsh/zpty
      zpty prompt zsh -i
      for line in "$@"; do
        zpty -w -n prompt "$line"$'\\t\\x18\\x02'
        zpty -r prompt seen '*<<*>>*'
        print -r -- "\${\${seen##*<<}%%>>*}"
      done`;
    return await linesOf('zsh', ['-f', '-c', driver, 'driver', ...lines]);
  }

  it('completes a line by a script that was sourced', async () => {
    await writeFile(join(folder, 'sourced.zsh'), SHELL_SCRIPTS.zsh);
    const lines = [
      'longshore enqueue team:mail.s',
      'longshore show sourc',
      `longshore enqueue ${COMMAND}`,
    ];
    const setUp = 'compinit -u -D; source sourced.zsh';
    expect(await pressTab(setUp, lines)).toEqual([
      'longshore enqueue team:mail.send ',
      'longshore show sourced.zsh ',
      `longshore enqueue ${COMMAND}`,
    ]);
    await expectNothingEvaluated();
  });

  it('completes a line by a script in a folder of fpath, from the first time on', async () => {
    await mkdir(join(folder, 'functions'));
    await writeFile(join(folder, 'functions/_longshore'), SHELL_SCRIPTS.zsh);
    const setUp = 'fpath=($PWD/functions $fpath); compinit -u -D';
    expect(await pressTab(setUp, ['longshore list --status fa'])).toEqual([
      'longshore list --status failed ',
    ]);
  });
});

it.skipIf(!has('fish'))('fish offers words with what they mean, or else files', async () => {
  await writeFile(join(folder, 'longshore.fish'), SHELL_SCRIPTS.fish);
  const tab = async (line: string) =>
    await linesOf('fish', ['--no-config', '-c', `source longshore.fish; complete -C '${line}'`]);
  const subs = await tab('longshore schedules ');
  expect(subs).toContain('slots\tList its slots and their outcomes, newest first.');
  expect(subs).not.toContain('longshore.fish');
  expect(await tab('longshore enqueue team:mail.s')).toEqual(['team:mail.send']);
  expect(await tab('longshore show longsh')).toEqual(['longshore.fish']);
  expect(await tab(`longshore enqueue ${COMMAND}`)).toEqual([]);
  await expectNothingEvaluated();
});
