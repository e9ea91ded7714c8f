import { describe, expect, it } from 'vitest';
import { comparePositions, parsePosition } from '../../../src/core/views/history-position.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import type { ClaimedJob } from '../../../src/store/claim/claim.ts';
import { writeEvents } from '../../../src/store/attempt/events.ts';
import { writeLogChunks } from '../../../src/store/attempt/log-chunks.ts';
import { isLogId, readLogs } from '../../../src/store/read/read-logs.ts';
import { loadSteps, saveStep } from '../../../src/store/attempt/steps.ts';
import { postgresVersions, sharedDatabase } from '../../support/servers/database.ts';
import { settleAs, SUCCESS } from '../../support/jobs.ts';
import { claimSubject, reachOwned, reachState } from '../../support/checks/reach-state.ts';
import { allEvents, allLogs, chunk, saidBy } from '../../support/history.ts';

const LOST = { kind: 'lost', message: 'gone' } as const;
/** What JSON can say and PostgreSQL's text cannot. */
const ODD_JSON = '{"z":1,"a":"\\u0000 \\ud800 é"}';

describe.each(postgresVersions())('what a job writes down, on PostgreSQL %i', (postgres) => {
  const database = sharedDatabase({ postgres });

  const write = async (job: ClaimedJob, n: number, messages: string[]) =>
    await writeLogChunks(database.db, 0, [chunk(job, n, messages)]);

  const say = async (job: ClaimedJob, n: number, payloadJson = '{}') =>
    await writeEvents(database.db, 0, [saidBy(job, n, payloadJson)]);

  const save = async ({ id, claim }: ClaimedJob, name: string | null, valueJson: string) =>
    await saveStep(database.db, 0, { id, claim, name, valueJson });

  const messages = async (id: string) => (await allLogs(database, id)).map((log) => log.message);

  const payloads = async (id: string) =>
    (await allEvents(database, id))
      .filter(({ type }) => type === 'custom')
      .map(({ payload }) => payload);

  /** Tries all three ways to write; answers with what is there afterwards. */
  const tryAll = async (job: ClaimedJob, n: number) => {
    await write(job, n, [`line ${n}`]);
    await say(job, n, `${n}`);
    const saved = await save(job, `step ${n}`, `${n}`);
    const { steps } = await loadSteps(database.db, 0, job.id);
    const names = steps.map(({ name }) => name);
    return { saved, lines: await messages(job.id), said: await payloads(job.id), names };
  };

  describe('the fence', () => {
    it('lets the owner write, also while it is asked to stop', async () => {
      const { job, id } = await reachOwned(database);
      expect(await tryAll(job, 0)).toEqual({
        saved: true,
        lines: ['line 0'],
        said: [0],
        names: ['step 0'],
      });
      await cancelJob(database.db, 'default', id);
      expect(await tryAll(job, 1)).toEqual({
        saved: true,
        lines: ['line 0', 'line 1'],
        said: [0, 1],
        names: ['step 0', 'step 1'],
      });
    });

    it('refuses writes after the end, and of a lost claim', async () => {
      const subject = await reachOwned(database);
      await settleAs(database, subject.job, LOST);
      const nothing = { saved: false, lines: [], said: [], names: [] };
      expect(await tryAll(subject.job, 0)).toEqual(nothing);
      const [current] = await claimSubject(database, subject);
      if (!current) throw new Error('not claimed');
      expect(await tryAll(subject.job, 0)).toEqual(nothing);
      await settleAs(database, current, SUCCESS);
      expect(await tryAll(current, 0)).toEqual(nothing);
    });

    it('takes the others of a batch when one of them is stale', async () => {
      const [one, lost, two] = [
        await reachOwned(database),
        await reachOwned(database),
        await reachOwned(database),
      ];
      await settleAs(database, lost.job, LOST);
      const jobs = [two.job, lost.job, one.job];
      await writeLogChunks(
        database.db,
        0,
        jobs.map((job) => chunk(job, 0, ['line'])),
      );
      await writeEvents(
        database.db,
        0,
        jobs.map((job) => saidBy(job, 0)),
      );
      const lines = await Promise.all([one, lost, two].map(async ({ id }) => await messages(id)));
      expect(lines).toEqual([['line'], [], ['line']]);
      const said = await Promise.all([one, lost, two].map(async ({ id }) => await payloads(id)));
      expect(said).toEqual([[{}], [], [{}]]);
    });
  });

  describe('a write that is sent again', () => {
    it('changes nothing', async () => {
      const { job, id } = await reachOwned(database);
      for (const text of ['first', 'second']) {
        await write(job, 0, [text]);
        await say(job, 0, `"${text}"`);
      }
      expect(await messages(id)).toEqual(['first']);
      expect(await payloads(id)).toEqual(['first']);
    });

    it('brings what was missing, beside what is there', async () => {
      const { job, id } = await reachOwned(database);
      await write(job, 0, ['a']);
      await writeLogChunks(database.db, 0, [chunk(job, 0, ['a']), chunk(job, 1, ['b'])]);
      await say(job, 0, '1');
      await writeEvents(database.db, 0, [saidBy(job, 0, '1'), saidBy(job, 1, '2')]);
      expect(await messages(id)).toEqual(['a', 'b']);
      expect(await payloads(id)).toEqual([1, 2]);
    });
  });

  describe('steps', () => {
    it('are stored once, the checkpoint again and again; the next attempt finds both', async () => {
      const subject = await reachOwned(database);
      expect(await loadSteps(database.db, 0, subject.id)).toEqual({
        checkpointJson: null,
        steps: [],
      });
      await save(subject.job, 'b', ODD_JSON);
      await save(subject.job, 'a', 'null');
      await save(subject.job, null, '1');
      expect(await save(subject.job, 'b', '"another"')).toBe(true);
      await settleAs(database, subject.job, LOST);
      const [next] = await claimSubject(database, subject);
      if (!next) throw new Error('not claimed');
      await save(next, null, ODD_JSON);
      expect(await save(subject.job, null, '"stale"')).toBe(false);
      expect(await loadSteps(database.db, 0, subject.id)).toEqual({
        checkpointJson: ODD_JSON,
        steps: [
          { name: 'b', valueJson: ODD_JSON, ageMs: expect.any(Number) },
          { name: 'a', valueJson: 'null', ageMs: expect.any(Number) },
        ],
      });
    });

    it('have a name', async () => {
      const { job } = await reachOwned(database);
      await expect(save(job, '', '1')).rejects.toThrow('a step needs a name');
    });
  });

  describe('payloads and lines', () => {
    it('are kept to the letter', async () => {
      const { job, id } = await reachOwned(database);
      await say(job, 0, ODD_JSON);
      const [payload] = await payloads(id);
      expect(JSON.stringify(payload)).toBe(ODD_JSON);
      const odd = ['\u0000 \ud800 é 😀', 'a\nb', '', 'x'.repeat(20_000)];
      await write(job, 0, odd);
      await write(job, 1, []);
      expect(await messages(id)).toEqual(odd);
      const [first] = await allLogs(database, id);
      expect(first).toMatchObject({ attempt: 1, level: 'info', stream: 'stdout' });
      expect(first?.at).toBe('2026-01-01T00:00:00.000Z');
    });

    it('take little room', async () => {
      const { job, id } = await reachOwned(database);
      await write(job, 0, ['x'.repeat(60_000)]);
      const [row] = await database.sql<{ bytes: number }>(
        'select length(data) as bytes from longshore.log_chunk where job_id = $1',
        [id],
      );
      expect(row?.bytes).toBeLessThan(1_000);
    });
  });

  describe('a page of lines', () => {
    /** Two claims of one attempt, since an interruption gives it back, and one of the next. */
    const chatty = async () => {
      const subject = await reachOwned(database);
      await write(subject.job, 0, ['a0', 'a1', 'a2']);
      await write(subject.job, 1, ['b0']);
      await write(subject.job, 4, ['c0', 'c1']);
      await settleAs(database, subject.job, { kind: 'interrupted', message: 'deploy' });
      const [second] = await claimSubject(database, subject);
      if (!second) throw new Error('not claimed');
      await write(second, 0, ['d0', 'd1', 'd2', 'd3']);
      await settleAs(database, second, LOST);
      const [third] = await claimSubject(database, subject);
      if (!third) throw new Error('not claimed');
      await write(third, 0, ['e0']);
      await write(third, 1, ['f0', 'f1']);
      return { id: subject.id, job: third };
    };
    const ALL = ['a0', 'a1', 'a2', 'b0', 'c0', 'c1', 'd0', 'd1', 'd2', 'd3', 'e0', 'f0', 'f1'];

    it('goes on where the one before ended, whatever its size', async () => {
      const { id } = await chatty();
      for (let limit = 1; limit <= ALL.length + 1; limit += 1) {
        const logs = await allLogs(database, id, { limit });
        expect(logs.map(({ message }) => message)).toEqual(ALL);
      }
    });

    it('goes on after any line, whose ids grow', async () => {
      const { id } = await chatty();
      const logs = await allLogs(database, id);
      const places = logs.flatMap((log) => [parsePosition(log.id) ?? ([0, 0, 0] as const)]);
      expect(places.toSorted(comparePositions)).toEqual(places);
      for (const [index, { id: afterId }] of logs.entries()) {
        expect(isLogId(afterId)).toBe(true);
        const question = { afterId, attempt: null, limit: 100 };
        const page = await readLogs(database.db, 'default', id, question);
        expect(page?.logs).toEqual(logs.slice(index + 1));
      }
    });

    it('is bounded, and says that there is more', async () => {
      const { id } = await chatty();
      const read = async (limit: number) =>
        await readLogs(database.db, 'default', id, { afterId: null, attempt: null, limit });
      expect(await read(3)).toMatchObject({ logs: [{}, {}, { id: '1-0-2' }], nextId: '1-0-2' });
      expect(await read(4)).toMatchObject({ nextId: '1-1-0' });
      const whole = await read(13);
      expect(whole?.logs).toHaveLength(13);
      expect(whole).toMatchObject({ nextId: null, ended: false });
    });

    it('is of one attempt when asked for', async () => {
      const { id } = await chatty();
      for (const limit of [1, 2, 100]) {
        const of = async (attempt: number) =>
          (await allLogs(database, id, { attempt, limit })).map(({ message }) => message);
        expect(await of(1)).toEqual(ALL.slice(0, 10));
        expect(await of(2)).toEqual(ALL.slice(10));
        expect(await of(3)).toEqual([]);
      }
    });

    it('is the last one only when the job has ended and nothing is left', async () => {
      const { id, job } = await chatty();
      const read = async (afterId: string | null, limit = 100) =>
        await readLogs(database.db, 'default', id, { afterId, attempt: null, limit });
      expect(await read('3-1-1')).toEqual({ logs: [], nextId: null, ended: false });
      await settleAs(database, job, SUCCESS);
      expect(await read('3-1-1')).toEqual({ logs: [], nextId: null, ended: true });
      expect(await read('3-1-0')).toMatchObject({ logs: [{ message: 'f1' }], ended: true });
      expect(await read(null, 12)).toMatchObject({ nextId: '3-1-0', ended: false });
      expect(await read('2000000000-2000000000-2000000000')).toMatchObject({ logs: [] });
      expect(await read('1-0-2000000000', 1)).toMatchObject({ logs: [{ message: 'b0' }] });
    });

    it('is empty for a job that wrote nothing, and null for no job of this tenant', async () => {
      const { id } = await reachState(database, 'queued');
      const question = { afterId: null, attempt: null, limit: 10 };
      const read = async (tenant: string, jobId: string) =>
        await readLogs(database.db, tenant, jobId, question);
      expect(await read('default', id)).toEqual({ logs: [], nextId: null, ended: false });
      expect(await read('other', id)).toBeNull();
      expect(await read('default', 'nonsense')).toBeNull();
      expect(await read('default', id.replace(/^..../, '0000'))).toBeNull();
    });
  });
});
