import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

/** The smallest chaos run, on a PostgreSQL of its own. docs/reliability.md says what it proves. */

const MAIN = fileURLToPath(new URL('../../chaos/main.ts', import.meta.url));
const PATIENCE_MS = 300_000;

it(
  'keeps every promise of docs/reliability.md while everything is killed',
  async () => {
    const child = spawn(process.execPath, [MAIN, '--profile', 'smoke', '--seed', '1'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // It ends its servers when it is asked to end itself.
    onTestFinished(() => void child.kill('SIGTERM'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const code = await new Promise((resolve) => {
      child.once('close', resolve);
    });
    expect(said).toContain('Every promise was kept.');
    expect(code).toBe(0);
  },
  PATIENCE_MS,
);
