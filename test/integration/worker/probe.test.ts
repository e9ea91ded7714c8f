import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { probeIsolation, type Probe } from '../../../src/worker/probe.ts';
import type { Escape } from '../../../src/worker/probe/escape.ts';
import { FIXTURES } from '../../support/processes.ts';
import { chown } from 'node:fs/promises';
import { POSTGRES_UID } from '../../../src/core/access/machine-users.ts';

/** What `longshore doctor` has a probe try, on this machine, for real. */

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longshore-probe-test-'));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

async function probe(runnerUids: string): Promise<Probe> {
  const password = join(folder, 'longshore-password');
  const configFile = join(folder, 'longshore.config.json');
  for (const file of [password, configFile]) await writeFile(file, 'secret', { mode: 0o600 });
  if (isRoot) await chown(password, POSTGRES_UID, POSTGRES_UID);
  return await probeIsolation({
    jobs: join(FIXTURES, 'jobs'),
    runnerEnv: null,
    runnerUids,
    databaseFile: password,
    configFile,
    openServer: null,
    clock: systemClock,
    log: silentLog,
  });
}

const named = ({ attempts }: Probe, result: string): Escape[] =>
  attempts.filter((one) => one.result === result).map(({ escape }) => escape);

describe.runIf(isRoot && process.platform === 'linux')('a probe of a worker that is root', () => {
  it('finds no way out when each job has a user of its own', async () => {
    const found = await probe('auto');
    expect(found.hasUsers).toBe(true);
    expect(found.attempts.filter(({ result }) => result === 'escaped')).toEqual([]);
    // It did try: only what this machine does not have is left out.
    expect(named(found, 'untried')).not.toContain('setuid');
    expect(named(found, 'held').length).toBeGreaterThanOrEqual(12);
  });

  it('says what a job can do that runs as root', async () => {
    const found = await probe('none');
    expect(found.hasUsers).toBe(false);
    expect(named(found, 'escaped')).toEqual(
      expect.arrayContaining<Escape>([
        'neighbour-files',
        'neighbour-memory',
        'neighbour-signal',
        'worker-memory',
        'worker-signal',
        'database',
        'config-file',
        'private-files',
        'code',
        'processes',
      ]),
    );
  });
});

describe.runIf(!isRoot && process.platform === 'linux')('a probe of an ordinary worker', () => {
  it('says what a job can do that has the rights of its worker', async () => {
    const found = await probe('auto');
    expect(named(found, 'escaped')).toEqual(
      expect.arrayContaining<Escape>(['neighbour-files', 'neighbour-signal', 'worker-signal']),
    );
  });
});
