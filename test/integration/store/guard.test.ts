import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JOB_STATES, type JobState } from '../../../src/core/job/job.ts';
import { FIRST_STATES, isLegal, TRANSITIONS } from '../../../src/core/job/transitions.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import { insertBody, insertRow, moveRow, rawRow, tableOf } from '../../support/checks/raw-rows.ts';

/**
 * The guard is what every other test trusts to notice an illegal move. So it is tried with every
 * pair of states: it must let through exactly what the table in `core/job/lifecycle.ts` has.
 */
describe.each(postgresVersions())('the guard on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });
  let client: Client;

  beforeAll(async () => {
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => await client.end());

  /** What the commit says to this: "accepted", or the guard's complaint. */
  const verdict = async (work: () => Promise<unknown>): Promise<string> => {
    try {
      await client.query('begin');
      await work();
      await client.query('commit');
      return 'accepted';
    } catch (error) {
      await client.query('rollback');
      return error instanceof Error ? error.message : String(error);
    }
  };

  /** A job in any state, put there past the guard. */
  const arrange = async (state: JobState, claimNo = 1): Promise<string> => {
    await client.query('begin; set local session_replication_role = replica');
    const id = await insertBody(client);
    await insertRow(client, tableOf(state), rawRow(id, state, claimNo));
    await client.query('commit');
    return id;
  };

  it('lets a job be born in the first states and in no other', async () => {
    const accepted: JobState[] = [];
    for (const state of JOB_STATES) {
      const said = await verdict(async () => {
        const id = await insertBody(client);
        await insertRow(client, tableOf(state), rawRow(id, state, 2));
      });
      if (said === 'accepted') accepted.push(state);
      else expect(said).toMatch(`was born in state ${state}`);
    }
    expect(accepted).toEqual(FIRST_STATES);
    expect(await verdict(async () => await insertBody(client))).toMatch('was born in state none');
  });

  it.each(JOB_STATES)(
    'lets a job that is %s move as the table says and not otherwise',
    async (from) => {
      const accepted: JobState[] = [];
      for (const state of JOB_STATES) {
        const id = await arrange(from);
        // A claim takes a new number, and nothing else does.
        const claimNo = from === 'queued' && state === 'running' ? 2 : 1;
        const said = await verdict(async () => await moveRow(client, from, { id, state, claimNo }));
        if (said === 'accepted') accepted.push(state);
        else expect(said).toMatch(`illegal move of job ${id} from ${from} to ${state}`);
      }
      // To stay is no move.
      expect(accepted).toEqual(JOB_STATES.filter((to) => to === from || isLegal(from, to)));
    },
  );

  it('wants a new claim number at each claim, and never lets it go back', async () => {
    const queued = await arrange('queued');
    const claim = async (claimNo: number) =>
      await verdict(
        async () => await moveRow(client, 'queued', { id: queued, state: 'running', claimNo }),
      );
    expect(await claim(1)).toMatch('did not take a new number');
    expect(await claim(3)).toMatch('did not take a new number');
    expect(await claim(2)).toBe('accepted');
    for (const { from, to } of TRANSITIONS) {
      if (to === 'running') continue;
      const id = await arrange(from, 5);
      const said = await verdict(
        async () => await moveRow(client, from, { id, state: to, claimNo: 4 }),
      );
      expect(said).toMatch(`claim number of job ${id} went back`);
    }
  });

  it('requires a job in exactly one table', async () => {
    const id = await arrange('running');
    const twice = async () => await insertRow(client, 'done', rawRow(id, 'succeeded', 1));
    expect(await verdict(twice)).toMatch(`job ${id} is in 2 places`);
    const nowhere = async () => await client.query('delete from longshore.running');
    expect(await verdict(nowhere)).toMatch('is in 0 places');
  });
});
