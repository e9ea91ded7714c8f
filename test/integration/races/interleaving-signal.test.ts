import { expect, it } from 'vitest';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { signalJob } from '../../../src/store/change/signal-job.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { reachOwned } from '../../support/checks/reach-state.ts';
import { settleAs } from '../../support/jobs.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';

/**
 * A job begins to wait at the moment its signal arrives. Neither transaction sees the other, so each
 * could leave the job to the other: it would sleep until its timeout.
 */
const database = sharedDatabase();

const WAIT = { kind: 'suspended', signal: 'go', timeoutMs: 3_600_000 } as const;
const statusOf = async (id: string) => (await getJob(database.db, 'default', id))?.status;
const signal = async (db: Queryable, id: string) =>
  await signalJob(db, 'default', id, { name: 'go', payloadJson: '1' });

it.each(['commits', 'rolls back'])('the signal comes first and %s', async (end) => {
  const { id, job } = await reachOwned(database);
  const link = await HeldLink.begin(database);
  expect(await signal(link, id)).toEqual({ kind: 'stored', status: 'running', duplicate: false });
  const settling = settleAs(database, job, WAIT);
  await untilBlocked(database);
  await (end === 'commits' ? link.commit() : link.rollback());
  const settled = await settling;
  const resumed = end === 'commits';
  expect(await statusOf(id)).toBe(resumed ? 'queued' : 'suspended');
  expect(settled.map(({ levels }) => levels.length)).toEqual([resumed ? 1 : 0]);
});

it.each(['commits', 'rolls back'])('the wait comes first and %s', async (end) => {
  const { id, job } = await reachOwned(database);
  const link = await HeldLink.begin(database);
  await settleAs({ db: link }, job, WAIT);
  const signalling = signal(database.db, id);
  await untilBlocked(database);
  await (end === 'commits' ? link.commit() : link.rollback());
  const status = end === 'commits' ? 'queued' : 'running';
  expect(await signalling).toEqual({ kind: 'stored', status, duplicate: false });
  expect(await statusOf(id)).toBe(status);
});

it('the same signal twice at the same moment is stored once', async () => {
  const { id, job } = await reachOwned(database);
  await settleAs(database, job, WAIT);
  const answers = await Promise.all([1, 2, 3, 4].map(async () => await signal(database.db, id)));
  const firsts = answers.filter((answer) => answer.kind === 'stored' && !answer.duplicate);
  expect(firsts).toHaveLength(1);
  expect(answers.filter(({ kind }) => kind === 'stored')).toHaveLength(4);
});
