import { afterEach, expect, it } from 'vitest';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import type { Service } from '../../../src/runtime/service.ts';
import { canaryJudge } from '../../../src/scheduler/canary-judge.ts';
import { addArtifact } from '../../../src/store/deployments/artifacts.ts';
import { createDeployment } from '../../../src/store/deployments/deployments.ts';
import { changeReleases, listReleases } from '../../../src/store/deployments/releases.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
const BY = { name: 'test', address: null };
let judge: Service | undefined;

afterEach(async () => await judge?.stop());

/** Two deployments of a definition: the second is a canary. */
async function canaryOf(key: string): Promise<{ current: number; canary: number }> {
  const { db } = database;
  const sha256 = '1'.repeat(64);
  const archive = { sha256, format: 'zip', bytes: 1, manifest: null, signature: null } as const;
  await addArtifact(db, 'default', BY, archive);
  return await db.transaction(async (tx) => {
    const info = definitionInfo({ key }, { paramsSchema: null });
    const about = { tenant: 'default', sha256, note: null, revision: null, manifest: {} };
    const made = { ...about, definitions: [info] };
    const change = { tenant: 'default', keys: [key], reason: null };
    const current = await createDeployment(tx, BY, made);
    await changeReleases(tx, BY, 'deployment.promote', {
      ...change,
      number: current,
      canaryPercent: null,
    });
    const canary = await createDeployment(tx, BY, made);
    const started = { ...change, number: canary, canaryPercent: 5 };
    await changeReleases(tx, BY, 'deployment.canary', started);
    return { current, canary };
  });
}

async function count(key: string, version: number, state: string, n: number): Promise<void> {
  await database.sql(
    `insert into longshore.counter (shard, queue, was, state, n)
     select q.shard, q.queue, 'running', $3::longshore.job_state, $4
     from longshore.find_or_create_queue(0::smallint, $1, $2, 'acme') q`,
    [key, version, state, n],
  );
}

const canaryNow = async (key: string) =>
  (await listReleases(database.db)).find((one) => one.key === key)?.canary;

it('ends a canary that fails more often, for all tenants together, and no other', async () => {
  const good = await canaryOf('good');
  const bad = await canaryOf('bad');
  for (const [key, { current, canary }] of [
    ['good', good],
    ['bad', bad],
  ] as const) {
    await count(key, current, 'succeeded', 200);
    await count(key, current, 'retrying', 4);
    await count(key, canary, 'succeeded', 6);
    if (key === 'bad') await count(key, canary, 'retrying', 8);
  }
  judge = canaryJudge(database.db, 10, silentLog);
  await judge.start();
  await until('it has ended', async () => (await canaryNow('bad')) === null);
  expect(await canaryNow('good')).toBe(good.canary);
  const [entry] = await database.sql<{ actor: string; after: unknown }>(
    `select actor, after from longshore.audit where action = 'deployment.canary-end'`,
  );
  expect(entry).toEqual({
    actor: 'canary judge',
    after: {
      definitions: ['bad'],
      reason: `deployment ${bad.canary}: 8 of 14 attempts failed, of the current version 4 of 204`,
    },
  });
});
