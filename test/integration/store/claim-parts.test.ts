import { beforeAll, expect, it } from 'vitest';
import { NO_USAGE } from '../../../src/core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../../src/core/job/lifecycle.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import {
  ASKED,
  LEVEL_ROOM,
  LOCKED_LIMITERS,
  OPEN_LEVELS,
  SEEN,
} from '../../../src/store/claim/limited-levels.ts';
import {
  CHOSEN,
  FITTING,
  LOCKED_KEYS,
  NUMBERED,
  PICKED,
} from '../../../src/store/claim/limited-pick.ts';
import { OWNED } from '../../../src/store/claim/settle-parts.ts';
import { SETTLEMENTS, settlementsJson } from '../../../src/store/claim/settlement.ts';
import { enqueueOne, newWorker, SUCCESS } from '../../support/jobs.ts';
import { publish, take } from '../../support/limits.ts';
import { sharedDatabase } from '../../support/servers/database.ts';

/** The parts of claim and settle, each read on its own: what rows they yield. */
const database = sharedDatabase();
let worker: string;

beforeAll(async () => {
  worker = await newWorker(database);
});

/** The ids that the fence of `settle` lets through. */
async function owned(job: ClaimedJob, changes: { claim?: number; was?: 'running' | 'cancelling' }) {
  const transition = decide({ ...job, ...DEFAULT_RULES, state: 'running' }, SUCCESS, 0);
  const { id, claim } = job;
  const settlement = { id, claim, was: 'running' as const, transition, usage: NO_USAGE };
  const rows = await database.sql<{ id: string }>(
    `with ${SETTLEMENTS}, ${OWNED} select id from owned`,
    [0, settlementsJson([{ ...settlement, ...changes }])],
  );
  return rows.map((row) => row.id);
}

it('OWNED yields the row of this claim in this state, and of no other', async () => {
  const id = await enqueueOne(database, { definitionKey: 'fenced' });
  const [job] = await take(database, worker, 1);
  if (job?.id !== id) throw new Error('the job was not claimed');
  expect(await owned(job, {})).toEqual([id]);
  expect(await owned(job, { claim: job.claim - 1 })).toEqual([]);
  expect(await owned(job, { was: 'cancelling' })).toEqual([]);
});

const ROOM = `${ASKED}, ${SEEN}, ${OPEN_LEVELS}, ${LOCKED_LIMITERS}, ${LEVEL_ROOM}`;
const CHOICE = `${PICKED}, ${LOCKED_KEYS}, ${NUMBERED}, ${FITTING}, ${CHOSEN}`;

/** The parts with the level of one queue, for at most 10 jobs. */
async function read<Row extends object>(key: string, text: string, as = worker): Promise<Row[]> {
  const [queue] = await database.sql<{ queue: number }>(
    'select queue from longshore.queue where shard = 0 and key = $1',
    [key],
  );
  return await database.sql(text, [0, 10, as, [queue?.queue], [0], [0], [3]]);
}

it('LEVEL_ROOM yields the levels with room, and how much', async () => {
  await publish(database, 'narrow', { concurrencyLimit: 2 });
  for (let n = 0; n < 3; n += 1) await enqueueOne(database, { definitionKey: 'narrow' });
  const room = `with ${ROOM} select droom, troom from level where $2::int > 0`;
  expect(await read('narrow', room)).toEqual([{ droom: 2, troom: null }]);
  expect(await read('narrow', room, crypto.randomUUID())).toEqual([]);
  expect(await read('narrow', `with ${ROOM}, ${CHOICE} select 1 from ok`)).toHaveLength(2);
  await take(database, worker, 1);
  expect(await read('narrow', room)).toEqual([{ droom: 1, troom: null }]);
  await take(database, worker, 1);
  expect(await read('narrow', room)).toEqual([]);
});
