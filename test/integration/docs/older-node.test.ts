import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { programFile } from '../../../src/runtime/code.ts';
import { machineNode } from '../../support/machine-node.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** docs/sdk.md promises this to applications on Node 20; other Nodes lose here what Node 20 lacks. */

const database = sharedDatabase();

const FORGET = `
  for (const [object, names] of [
    [Map, ['groupBy']],
    [Object, ['groupBy']],
    [Promise, ['withResolvers', 'try']],
    [Array, ['fromAsync']],
    [RegExp, ['escape']],
    [Set.prototype, ['union', 'intersection', 'difference', 'isSubsetOf']],
  ]) for (const name of names) delete object[name];
`;

const APPLICATION = `
  const { createLongshore } = await import(process.argv[1]);
  const databaseUrl = process.argv[2];
  const longshore = await createLongshore({ databaseUrl, jobs: undefined, worker: false });
  const [first] = await longshore.enqueueMany([{ definition: 'old' }, { definition: 'old' }]);
  const second = await longshore.enqueue('old', { n: 2 }, { after: [first], idempotencyKey: 'k' });
  await first.cancel();
  const { status } = await first.wait();
  const events = [];
  for await (const { type } of first.events()) events.push(type);
  await first.retry();
  await first.cancel({ children: true });
  await first.delete();
  const waits = (await second.get()).status;
  const batch = await longshore.batch([{ definition: 'old' }], { onComplete: { definition: 'old' } });
  const { total } = await batch.cancel();
  await longshore.stop();
  console.log(JSON.stringify({ status, events, waits, total }));
`;

const run = (code: string) =>
  spawnSync(
    machineNode(),
    ['--input-type=module', '--eval', code, programFile('index'), database.url],
    { encoding: 'utf8' },
  );

it('an application on Node 20 enqueues in process', () => {
  const { stdout, stderr } = run(FORGET + APPLICATION);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    status: 'cancelled',
    events: ['created', 'queued', 'cancel_requested', 'cancelled'],
    waits: 'failed',
    total: 1,
  });
});
