import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/**
 * The smoke profile of `npm run chaos`: a small cluster of real processes under fire for a minute, and
 * then a verdict over what it left behind. The same seed deals the same faults.
 */
it('every promise is kept by a cluster under fire', async () => {
  const main = fileURLToPath(new URL('../../chaos/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, '--profile', 'smoke', '--seed', '7'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let report = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (report += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  expect(report).toContain('Every promise was kept.');
  expect(code).toBe(0);
}, 300_000);
