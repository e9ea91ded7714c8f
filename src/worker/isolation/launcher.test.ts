import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { launchLine, type LaunchRules } from './launcher.ts';

const RULES: LaunchRules = {
  tag: 5_000_000_000,
  dataLimitKb: null,
  processesMax: null,
  waits: false,
  cwd: null,
  setpriv: null,
};

function launch(rules: Partial<LaunchRules>, argv: string[]) {
  const [shell = '', ...args] = launchLine({ ...RULES, ...rules }, argv);
  return spawnSync(shell, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
}

describe('the launcher', () => {
  it('becomes the program, with its arguments to the letter', () => {
    const args = ['a b', '$HOME', '`id`', "it's", '"', '', '*', '; exit 1'];
    const { stdout } = launch({}, ['/usr/bin/env', 'printf', '%s\\n', ...args]);
    expect(stdout.split('\n').slice(0, -1)).toEqual(args);
  });

  it('sets what only the process itself can set', () => {
    const look = ['/bin/sh', '-c', 'umask; ulimit -c; ulimit -m; ulimit -d'];
    const { stdout } = launch({ dataLimitKb: 4_000_000 }, look);
    expect(stdout).toBe('0077\n0\n5000000000\n4000000\n');
  });

  it('leaves a limit alone that it may not raise', () => {
    const line = launchLine({ ...RULES, dataLimitKb: 4_000_000 }, ['/bin/sh', '-c', 'ulimit -d']);
    const script = `ulimit -d 3000000; exec "$@"`;
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', script, 'sh', ...line], {
      encoding: 'utf8',
      uid: process.getuid?.() === 0 ? 65_534 : undefined,
    });
    expect([stdout, stderr, status]).toEqual(['3000000\n', '', 0]);
  });

  it('waits for a line, and exits when the other end is closed', () => {
    const { status, stdout } = launch({ waits: true }, ['/bin/echo', 'began']);
    expect(stdout).toBe('');
    expect(status).not.toBe(0);
  });
});
