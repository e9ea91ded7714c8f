import { describe, expect, it } from 'vitest';
import type { ChangeResult } from '../../../src/core/job/change-result.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import { deleteJob } from '../../../src/store/change/delete-jobs.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { retryJob } from '../../../src/store/change/retry-job.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { HeldLink, untilBlocked } from '../../support/servers/held-link.ts';
import { reachState } from '../../support/checks/reach-state.ts';

/**
 * Two people want the same job that has ended, at the same moment. One holds its transaction open,
 * the other runs into it: exactly one wins, and the other gets the true answer.
 */
const database = sharedDatabase();

type Change = (db: Queryable, id: string) => Promise<ChangeResult>;

const CHANGES: Record<string, Change> = {
  retry: async (db, id) =>
    await retryJob(db, 'default', id, { mode: 'now', runAt: null, paramsJson: '"other"' }),
  delete: async (db, id) => await deleteJob(db, 'default', id),
};

const refused = { kind: 'refused', status: 'queued' };
const missing = { kind: 'missing' };

describe.each([
  ['retry', 'retry', refused],
  ['retry', 'delete', refused],
  ['delete', 'retry', missing],
  ['delete', 'delete', missing],
])('%s comes first, %s second', (first, second, loser) => {
  it.each(['commits', 'rolls back'])('and the first %s', async (end) => {
    const { id } = await reachState(database, 'failed');
    const link = await HeldLink.begin(database);
    expect(await CHANGES[first]?.(link, id)).toMatchObject({ kind: 'changed' });
    const waiting = CHANGES[second]?.(database.db, id);
    await untilBlocked(database);
    await (end === 'commits' ? link.commit() : link.rollback());
    const answer = await waiting;
    if (end === 'commits') expect(answer).toEqual(loser);
    else expect(answer).toMatchObject({ kind: 'changed' });
    const won = end === 'commits' ? first : second;
    const job = await getJob(database.db, 'default', id);
    expect(job?.status).toBe(won === 'retry' ? 'queued' : undefined);
    const attempts = await database.sql('select retried from longshore.attempt where job_id = $1', [
      id,
    ]);
    expect(attempts).toHaveLength(won === 'retry' ? 1 : 0);
  });
});
