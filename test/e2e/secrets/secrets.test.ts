import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { firstObstacle } from '../../../src/postgres/server-user.ts';
import { jobInState, post, startJob } from '../../support/api.ts';
import { testDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { BIN, endAll, FIXTURES, launch } from '../../support/processes.ts';

/** Secrets that a server was given in its environment, and jobs that run as the same user. */

const isRoot = process.getuid?.() === 0;
/** As root, the server runs as an ordinary user, because that is the case that counts. */
const user = isRoot ? { uid: 1, gid: 1 } : {};
const canRun = !isRoot || (await firstObstacle([BIN], { uid: 1, gid: 1 })) === undefined;

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await testDatabase();
  folder = await mkdtemp(join(tmpdir(), 'longshore-secrets-'));
  await chmod(folder, 0o777);
});
afterEach(endAll);
afterAll(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

describe.runIf(process.platform === 'linux' && canRun)('the environment of a server', () => {
  it.each(['start', 'api and worker'])('is not shown to its jobs in /proc: %s', async (roles) => {
    const env = {
      DATABASE_URL: database.url,
      AWS_SECRET_ACCESS_KEY: 'canary-of-the-cloud',
      LONGSHORE_JOBS: join(FIXTURES, 'snoop'),
      HOME: folder,
    };
    const options = { env, user, cwd: folder };
    const up = [];
    for (const role of roles.split(' and ')) up.push(await launch(role, options));
    const address = up[0]?.summary.address ?? '';
    for (const text of [new URL(database.url).password, 'canary-of-the-cloud']) {
      const id = await startJob(address, 'snoop', { text });
      const { result } = await jobInState(address, id, 'succeeded');
      const { read, found } = result as { read: string[]; found: string[] };
      // It did see the environments of the others.
      for (const role of roles.split(' and ')) {
        expect(read.some((command) => command.includes(`longshore.js ${role}`))).toBe(true);
      }
      expect(found).toEqual([]);
    }
  });
});

describe.runIf(process.platform === 'linux' && isRoot && canRun)('a server without keys', () => {
  it('makes none for a job, and goes on for all others', async () => {
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(FIXTURES, 'snoop'),
      HOME: folder,
      LONGSHORE_RUNNER_UIDS: 'auto',
    };
    const { summary } = await launch('start', { env, cwd: folder });
    const { address } = summary;
    const asJob = async (path: string, body: unknown) => {
      const id = await startJob(address, 'ask', { url: `${address}${path}`, body });
      const { result } = await jobInState(address, id, 'succeeded');
      return result as { status: number; text: string; uid: number };
    };
    const refused = await asJob('/v1/keys', { name: 'mine', scopes: ['admin'] });
    expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('keys create') });
    expect(refused.uid).toBeGreaterThan(0);
    expect(await asJob('/v1/pause', {})).toMatchObject({ status: 403 });
    // To start jobs is what a job may do.
    expect(
      await asJob('/v1/jobs', { definitionKey: 'snoop', params: { text: 'x' } }),
    ).toMatchObject({
      status: 202,
    });
    const made = await post(`${address}/v1/keys`, { name: 'ours', scopes: ['admin'] });
    expect(made.status).toBe(201);
  });
});
