import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, test } from 'vitest';
import { NODE_WANTED, refuseOldNode } from './node-version.ts';

test.each(['22.18.0', '22.19.3', '23.0.0', '24.21.0'])('Node %s runs jobs', (version) => {
  expect(() => refuseOldNode(version)).not.toThrow();
});

test.each(['20.20.2', '22.17.9', '18.0.0'])('Node %s is refused with the remedy', (version) => {
  expect(() => refuseOldNode(version)).toThrow(
    `Longshore needs Node 22.18 or newer to run jobs; this is Node ${version}. Install a newer ` +
      'Node, or add one to your project: npm install node@24',
  );
});

it('asks for what package.json asks for', () => {
  const file = new URL('../../package.json', import.meta.url);
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${NODE_WANTED.major}.${NODE_WANTED.minor}`);
});

/** An application on a Node that says that it is an old one. */
it('refuses every call that runs jobs at once', () => {
  const index = fileURLToPath(new URL('../index.ts', import.meta.url));
  const testing = fileURLToPath(new URL('../testing/index.ts', import.meta.url));
  // Nothing listens there: a call that is not refused waits for the database.
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
    const { createLongshore, defineJob, runDueJobs } = await import('${index}');
    const { createTestRig, runJob } = await import('${testing}');
    const databaseUrl = 'postgres://app@127.0.0.1:9/none';
    const tidy = defineJob({ key: 'tidy', isolation: 'inline', run: () => 1 });
    const calls = {
      path: () => createLongshore({ databaseUrl, jobs: '.' }),
      values: () => createLongshore({ databaseUrl, jobs: [tidy] }),
      runDueJobs: () => runDueJobs({ databaseUrl, jobs: [tidy] }),
      runJob: () => runJob(tidy, {}),
      createTestRig: () => createTestRig({ databaseUrl, jobs: [tidy] }),
    };
    for (const [name, call] of Object.entries(calls)) {
      try { await call(); } catch (error) { console.log(name, error.message.slice(0, 29)); }
    }`;
  const options = { encoding: 'utf8', timeout: 60_000 } as const;
  const args = ['--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, options);
  const refused = ['path', 'values', 'runDueJobs', 'runJob', 'createTestRig'];
  expect({ stdout: stdout.trim().split('\n'), stderr }).toEqual({
    stdout: refused.map((name) => `${name} Longshore needs Node 22.18 or`),
    stderr: '',
  });
});
