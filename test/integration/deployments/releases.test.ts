import { expect, it } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { Deployer } from '../../../src/deployments/deployer.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { addArtifact } from '../../../src/store/deployments/artifacts.ts';
import { createDeployment } from '../../../src/store/deployments/deployments.ts';
import { listReleases } from '../../../src/store/deployments/releases.ts';
import type { Signature } from '../../../src/artifacts/signature.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { ParamsInvalid } from '../../../src/params/params-invalid.ts';
import { plainRequest } from '../../../src/core/job/new-job.ts';
import { Catalog } from '../../../src/store/enqueue/catalog.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const BY = { name: 'test', address: null };
const sha256 = '2'.repeat(64);

/** So many deployments of one definition, none of them released. */
async function deploymentsOf(
  key: string,
  count: number,
  schemaOf: (nth: number) => object | null = () => null,
): Promise<number[]> {
  const { db } = database;
  const archive = { sha256, format: 'zip', bytes: 1, manifest: null, signature: null } as const;
  await addArtifact(db, 'default', BY, archive);
  const about = { tenant: 'default', sha256, note: null, revision: null, manifest: {} };
  const numbers: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const definitions = [definitionInfo({ key }, { paramsSchema: schemaOf(n) })];
    const made = { ...about, definitions };
    numbers.push(await db.transaction(async (tx) => await createDeployment(tx, BY, made)));
  }
  return numbers;
}

const deployer = () => new Deployer({ db: database.db, syncSchedules: async () => undefined });

const promote = async (number = 0) =>
  await deployer().promote('default', BY, {
    number,
    keys: null,
    canaryPercent: null,
    reason: null,
  });

it('reaches the next job also while an older read of the releases is under way', async () => {
  const { db } = database;
  const [first, second] = await deploymentsOf('talk', 2);
  await promote(first);
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const held: Queryable = Object.assign(Object.create(db) as Queryable, {
    run: async (...args: Parameters<Queryable['run']>) => {
      const rows = await db.run(...args);
      if (args[0].name !== 'list_releases') return rows;
      begun.resolve();
      await gate.promise;
      return rows;
    },
  });
  const catalog = new Catalog(held, systemClock);
  const before = catalog.refresh();
  await begun.promise;
  await promote(second);
  catalog.forget();
  const after = catalog.refresh();
  gate.resolve();
  await Promise.all([before, after]);
  const job = { tenant: 'default', definitionKey: 'talk', definitionVersion: null };
  expect(catalog.find(job)).toMatchObject({ version: second });
});

it('is known with its definition also when both are stored between two reads', async () => {
  const { db } = database;
  const [first] = await deploymentsOf('sing', 1);
  await promote(first);
  let second = 0;
  const between: Queryable = Object.assign(Object.create(db) as Queryable, {
    run: async (...args: Parameters<Queryable['run']>) => {
      const rows = await db.run(...args);
      if (second === 0) {
        [second = 0] = await deploymentsOf('sing', 1);
        await promote(second);
      }
      return rows;
    },
  });
  const catalog = new Catalog(between, systemClock);
  await catalog.refresh();
  const job = { tenant: 'default', definitionKey: 'sing', definitionVersion: null };
  expect(catalog.find(job)).toMatchObject({ version: first });
  catalog.forget();
  await catalog.refresh();
  expect(catalog.find(job)).toMatchObject({ version: second });
});

it('decides once about a job: the deployment that runs it is the one whose schema validated it', async () => {
  const { db, waker } = database;
  const required = ['old', 'new'];
  const [first = 0, second = 0] = await deploymentsOf('draw', 2, (nth) => ({
    type: 'object',
    required: [required[nth]],
  }));
  await promote(first);
  await deployer().promote('default', BY, {
    number: second,
    keys: null,
    canaryPercent: 50,
    reason: null,
  });
  const enqueuer = new Enqueuer(db, waker, systemClock);
  const stored: string[] = [];
  for (let n = 0; n < 40; n += 1) {
    const job = plainRequest('default', 'draw', '{"old":1}');
    const [answer] = await enqueuer.start([job]).catch((error: unknown) => {
      if (error instanceof ParamsInvalid) return [];
      throw error;
    });
    if (answer) stored.push(answer.jobId);
  }
  expect(stored.length).toBeGreaterThan(0);
  const versions = await database.sql(
    `select distinct q.version from longshore.waiting w join longshore.queue q using (shard, queue)
     where w.id = any('{${stored.join()}}')`,
  );
  expect(versions).toEqual([{ version: first }]);
});

it('never becomes a retired deployment', async () => {
  const [first, second] = await deploymentsOf('walk', 2);
  await promote(first);
  await promote(second);
  await deployer().retire('default', BY, first ?? 0);
  await expect(promote(first)).rejects.toThrow(`deployment ${first} is retired`);
  const back = deployer().rollback('default', BY, { keys: ['walk'], reason: null });
  await expect(back).rejects.toThrow(`deployment ${first} is retired: deploy it again`);
});

it('waits for a release that is being written before it retires the deployment', async () => {
  const { db } = database;
  const [only = 0] = await deploymentsOf('run', 1);
  const written = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const { holdDeployment } = await import('../../../src/store/deployments/deployments.ts');
  const { changeReleases } = await import('../../../src/store/deployments/releases.ts');
  const releasing = db.transaction(async (tx) => {
    expect(await holdDeployment(tx, 'default', only)).toBe(true);
    const change = { tenant: 'default', number: only, keys: ['run'], canaryPercent: null };
    await changeReleases(tx, BY, 'deployment.promote', { ...change, reason: null });
    written.resolve();
    await go.promise;
  });
  await written.promise;
  const retiring = deployer().retire('default', BY, only);
  go.resolve();
  await releasing;
  expect(await retiring).toMatchObject({ status: 'retired', currentFor: [] });
});

/** A deployment of several definitions, each with a schedule, and what was synced for it. */
async function scheduled(keys: readonly string[]) {
  const { db } = database;
  const archive = { sha256, format: 'zip', bytes: 1, manifest: null, signature: null } as const;
  await addArtifact(db, 'default', BY, archive);
  const schedule = { cron: '0 3 * * *' };
  const definitions = keys.map((key) => definitionInfo({ key, schedule }, { paramsSchema: null }));
  const about = { tenant: 'default', sha256, note: null, revision: null, manifest: {} };
  return await db.transaction(
    async (tx) => await createDeployment(tx, BY, { ...about, definitions }),
  );
}

it('decides about schedules: a canary has none, and a retired deployment has none any more', async () => {
  const synced: [string, number][] = [];
  const watched = new Deployer({
    db: database.db,
    syncSchedules: async (_, definitions) =>
      void synced.push(
        ...definitions.map(({ key, schedules }) => [key, schedules.length] as [string, number]),
      ),
  });
  const [first, second] = [await scheduled(['night']), await scheduled(['night'])];
  const request = { keys: null, canaryPercent: null, reason: null };
  await watched.promote('default', BY, { ...request, number: first });
  await watched.promote('default', BY, { ...request, number: second, canaryPercent: 5 });
  expect(synced).toEqual([['night', 1]]);
  await watched.promote('default', BY, { ...request, number: second });
  await watched.retire('default', BY, second);
  expect(synced).toEqual([
    ['night', 1],
    ['night', 1],
    ['night', 0],
  ]);
});

it('ends the canary of one definition and leaves that of the others', async () => {
  const keys = ['left', 'right'];
  const [first, second] = [await scheduled(keys), await scheduled(keys)];
  const request = { keys: null, canaryPercent: null, reason: null };
  await deployer().promote('default', BY, { ...request, number: first });
  await deployer().promote('default', BY, { ...request, number: second, canaryPercent: 5 });
  await deployer().rollback('default', BY, { keys: ['left'], reason: null });
  const own = (await listReleases(database.db)).filter(({ key }) => keys.includes(key));
  expect(own.map(({ key, canary }) => [key, canary])).toEqual([
    ['left', null],
    ['right', second],
  ]);
});

it('an archive can be signed after its first upload, and keeps its signature then', async () => {
  const { db } = database;
  const signed = { algorithm: 'ed25519', keyId: 'k', value: 'v' } as unknown as Signature;
  const archive = { sha256: '3'.repeat(64), format: 'zip', bytes: 1, manifest: null } as const;
  const add = async (signature: Signature | null) =>
    await addArtifact(db, 'default', BY, { ...archive, signature });
  expect(await add(null)).toMatchObject({ created: true, artifact: { signature: null } });
  expect(await add(signed)).toMatchObject({ created: false, artifact: { signature: signed } });
  expect(await add(null)).toMatchObject({ created: false, artifact: { signature: signed } });
});
