import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { FileStorage } from '../../../src/artifacts/file-storage.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { collect } from '../../../src/deployments/collector.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { addArtifact } from '../../../src/store/deployments/artifacts.ts';
import { createDeployment } from '../../../src/store/deployments/deployments.ts';
import { changeReleases } from '../../../src/store/deployments/releases.ts';
import { plainRequest } from '../../../src/core/job/new-job.ts';
import { quickFolder } from '../../support/quick-folder.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

const database = sharedDatabase();
const BY = { name: 'test', address: null };

it('keeps what a release, a job or the last twenty need, and deletes the rest a day later', async () => {
  const { db, enqueuer } = database;
  const storage = new FileStorage(await quickFolder('longshore-collect-'));
  const hashes: string[] = [];
  for (let n = 1; n <= 30; n += 1) {
    const content = Buffer.from(`code ${n}`);
    const sha256 = createHash('sha256').update(content).digest('hex');
    hashes.push(sha256);
    await storage.put(
      sha256,
      content.length,
      (async function* () {
        yield content;
      })(),
    );
    const about = { format: 'zip', bytes: 1, manifest: null, signature: null } as const;
    await addArtifact(db, 'default', BY, { sha256, ...about });
    await db.transaction(async (tx) => {
      const definitions = [definitionInfo({ key: 'report' }, { paramsSchema: null })];
      const made = { tenant: 'default', sha256, note: null, revision: null, manifest: {} };
      await createDeployment(tx, BY, { ...made, definitions });
    });
  }
  const release = async (number: number) => {
    const change = { tenant: 'default', number, keys: ['report'], canaryPercent: null };
    await changeReleases(db, BY, 'deployment.promote', { ...change, reason: null });
  };
  await release(2);
  await release(5);
  const job = { ...plainRequest('acme', 'report', '{}'), skipValidation: true };
  await enqueuer.start([
    { ...job, definitionVersion: 3 },
    { ...job, definitionVersion: 4, delayMs: 3_600_000 },
  ]);
  // The counters, which know delayed jobs, are rolled up by a scheduler.
  await database.sql(
    `insert into longshore.counter (shard, queue, was, state, n)
     select shard, queue, was, state, sum(n) from longshore.counter_delta group by 1, 2, 3, 4`,
  );

  await collect(db, storage, silentLog);
  const retired = await database.sql<{ number: number }>(
    'select number from longshore.deployment where retired_at is not null order by number',
  );
  expect(retired.map(({ number }) => number)).toEqual([1, 6, 7, 8, 9, 10]);
  expect(await storage.list()).toHaveLength(30);

  const age = `update longshore.deployment set retired_at = retired_at - interval '2 days';
    update longshore.artifact set created_at = created_at - interval '3 days'`;
  await database.sql(age);
  await collect(db, storage, silentLog);
  const gone = [1, 6, 7, 8, 9, 10].map((number) => hashes[number - 1] ?? '');
  expect(await storage.list()).toEqual(hashes.filter((one) => !gone.includes(one)).sort());

  // The same code again.
  const [sha256 = ''] = gone;
  const about = { format: 'zip', bytes: 1, manifest: null, signature: null } as const;
  const again = await addArtifact(db, 'default', BY, { sha256, ...about });
  expect(again.created).toBe(true);
});
