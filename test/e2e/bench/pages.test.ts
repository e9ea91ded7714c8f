import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { quickFolder } from '../../support/quick-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = await quickFolder('longshore-bench-pages-test-');

afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Not how long they take: its exit code says that, and this test ignores it. */
it('bench:pages fills its tables and gets an answer to every call', async () => {
  const to = join(folder, 'rows.json');
  const sizes = ['--live', '200', '--finished', '400', '--requests', '1'];
  const stderr = await new Promise<string>((resolve) => {
    const args = ['bench/pages/main.ts', ...sizes, '--json', to];
    execFile(process.execPath, args, { cwd: root }, (_error, _stdout, text) => resolve(text));
  });
  const rows = JSON.parse(await readFile(to, 'utf8').catch(() => '[]')) as { workload: string }[];
  expect({ calls: rows.length > 60, stderr }).toEqual({
    calls: true,
    stderr: expect.stringMatching(/^(some of it takes longer than 100 ms\n)?$/) as string,
  });
  const calls = rows.map(({ workload }) => workload);
  expect(calls).toContain('pages /v1/stats');
  expect(calls.at(-1)).toBe('pages /v1/shards');
});
