import { join } from 'node:path';
import { pino } from 'pino';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defineJob, Snooze } from '../../../src/core/definition/define.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { drainWorker } from '../../../src/store/workers/drain-worker.ts';
import { listWorkers } from '../../../src/store/workers/list-workers.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { databasePerTest } from '../../support/servers/database.ts';
import { apiOn, MeanProxy, remoteWorker } from '../../support/servers/remote.ts';
import { jobBegun, jobEnded, scheduling } from '../../support/servers/worker.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { FIXTURES } from '../../support/processes.ts';
import { until } from '../../support/until.ts';

const database = databasePerTest();
const starts: string[] = [];
let open: Set<string>;

const JOBS = [
  defineJob({ key: 'hello', isolation: 'inline', run: (params) => ({ got: params }) }),
  defineJob({
    key: 'counted',
    isolation: 'inline',
    run: (_params, { jobId }) => {
      starts.push(jobId);
    },
  }),
  defineJob({
    key: 'flaky',
    isolation: 'inline',
    maxAttempts: 3,
    retry: { baseMs: 10, maxMs: 20 },
    run: async (_params, ctx) => {
      const first = await ctx.step('first', () => ctx.attempt);
      ctx.logger.warn(`attempt ${ctx.attempt}`);
      ctx.progress(ctx.attempt / 3, 'going on');
      if (ctx.attempt < 3) throw new Error('not yet');
      return { first };
    },
  }),
  defineJob({
    key: 'parent',
    isolation: 'inline',
    run: async (params: { n: number; definition: string }, ctx) => {
      const entries = Array.from({ length: params.n }, (_, at) => {
        return { definition: params.definition, params: at, options: { priority: 1 } };
      });
      await ctx.spawnMany(entries);
      return (await ctx.waitForChildren()).map(({ result }) => result);
    },
  }),
  defineJob({
    key: 'patient',
    isolation: 'inline',
    run: async (_params, { abortSignal, jobId }) => {
      open.add(jobId);
      await new Promise((_, reject) =>
        abortSignal.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    },
  }),
  defineJob({
    key: 'later',
    isolation: 'inline',
    run: (_params, ctx) => {
      if (ctx.attempt === 1 && starts.push('later') === 1) throw new Snooze(50);
    },
  }),
];

beforeEach(async () => {
  starts.length = 0;
  open = new Set();
  onTestFinished(await scheduling(database));
});

/** An API behind a proxy, and a worker that knows the address of the proxy. */
async function farAway(changes: Partial<Parameters<typeof remoteWorker>[1]> = {}, apis = 1) {
  const servers = await Promise.all(
    Array.from({ length: apis }, async () => await apiOn(database)),
  );
  const proxy = new MeanProxy(...servers.map(({ url }) => url));
  const url = await proxy.open();
  const { worker, stop } = remoteWorker(url, { jobs: JOBS, ...changes });
  onTestFinished(async () => {
    proxy.fate = () => 'pass';
    await stop();
    await proxy.close();
    for (const server of servers) await server.close();
  });
  await worker.start();
  return { proxy, worker, stop, servers };
}

const attemptsOf = async (id: string) =>
  (
    await database.sql<{ attempts: number }>(
      `select attempts from longshore.done where id = $1
       union all select attempts from longshore.running where id = $1`,
      [id],
    )
  )[0]?.attempts;

describe('a worker over HTTP', () => {
  it('runs jobs, with logs, steps, progress and retries decided by the server', async () => {
    await farAway();
    const hello = await enqueueOne(database, { paramsJson: '{"big":12345678901234567890}' });
    expect(await jobEnded(database, hello)).toMatchObject({ status: 'succeeded' });
    const flaky = await enqueueOne(database, { definitionKey: 'flaky' });
    const ended = await jobEnded(database, flaky);
    expect(ended).toMatchObject({ status: 'succeeded', attempts: 3, result: { first: 1 } });
    const logs = await database.sql('select 1 from longshore.log_chunk where job_id = $1', [flaky]);
    expect(logs).toHaveLength(3);
    const later = await enqueueOne(database, { definitionKey: 'later' });
    expect(await jobEnded(database, later)).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('runs jobs in processes of their own', async () => {
    await farAway({ jobs: join(FIXTURES, 'jobs') });
    const id = await enqueueOne(database, { definitionKey: 'echo', paramsJson: '{"a":1}' });
    expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded', result: { a: 1 } });
  });

  it('stores children once, also when the answer is lost, and goes on with their results', async () => {
    const { proxy } = await farAway({ slots: 1 });
    let lost = 0;
    proxy.fate = (_method, path) =>
      path.endsWith('/spawn') && lost++ === 0 ? 'lose-answer' : 'pass';
    const paramsJson = '{"n":3,"definition":"hello"}';
    const id = await enqueueOne(database, { definitionKey: 'parent', paramsJson });
    expect(await jobEnded(database, id)).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      result: [{ got: 0 }, { got: 1 }, { got: 2 }],
    });
    expect(lost).toBeGreaterThan(1);
    const [children] = await database.sql<{ n: number }>(
      "select count(*)::int as n from longshore.job where queue in (select queue from longshore.queue where key = 'hello')",
    );
    expect(children?.n).toBe(3);
  });

  it('learns of a cancel at once, also when all its slots are busy', async () => {
    await farAway({ slots: 1, heartbeatMs: 60_000, leaseMs: 180_000 });
    const id = await enqueueOne(database, { definitionKey: 'patient' });
    await jobBegun(database, id);
    await until('it runs here', () => open.has(id));
    await cancelJob(database.db, 'default', id, { name: 'test', address: null });
    expect(await jobEnded(database, id)).toMatchObject({ status: 'cancelled' });
  });

  it('is listed with its key, its address and its last turn, and can be drained', async () => {
    const { worker } = await farAway({ onDrain: () => void worker.stop() });
    const [listed] = await until('it has taken a turn', async () => {
      const found = await listWorkers(database.db, null);
      return found[0]?.turnAt ? found : null;
    });
    expect(listed).toMatchObject({ transport: 'http', address: '127.0.0.1', status: 'active' });
    await drainWorker(database.db, listed?.workerId ?? '', { name: 'test', address: null });
    await until('it has left', async () => {
      const [one] = await listWorkers(database.db, null);
      return one?.status === 'dead' && !one.lost;
    });
  });

  it('is served by any of several servers', async () => {
    const { servers } = await farAway({}, 2);
    const ids = await Promise.all(
      Array.from(
        { length: 20 },
        async () => await enqueueOne(database, { definitionKey: 'counted' }),
      ),
    );
    for (const id of ids) await jobEnded(database, id);
    expect(starts.toSorted()).toEqual(ids.toSorted());
    expect(servers).toHaveLength(2);
  });
});

describe('a worker that holds nothing', () => {
  const BEAT = 'POST /v1/workers/ID/beat';
  const IDLE_TURN = 'POST /v1/workers/ID/turn idle';

  /** A worker whose first wait has brought nothing. */
  async function resting(changes: Parameters<typeof farAway>[0] = {}, fate?: MeanProxy['fate']) {
    const far = await farAway(changes);
    if (fate) far.proxy.fate = fate;
    const rests = () => far.proxy.seen.includes(IDLE_TURN);
    await until('it rests', () => {
      for (const server of far.servers) server.release();
      return rests();
    });
    const leases = async () =>
      await database.sql<{ instance: string; until: number }>(
        `select instance, extract(epoch from lease_until)::float8 as until
         from longshore.worker where dead_at is null`,
      );
    return { ...far, leases };
  }

  it('sends no heartbeats: its waiting turn renews its lease', async () => {
    const { proxy, leases } = await resting({ leaseMs: 2_000, heartbeatMs: 100 });
    const [before] = await leases();
    const beats = proxy.seen.filter((call) => call === BEAT).length;
    const after = await until('its lease was renewed again and again', async () => {
      const [now] = await leases();
      return (now?.until ?? 0) > (before?.until ?? 0) + 2 ? now : null;
    });
    expect(after.instance).toBe(before?.instance);
    // One may have been on its way when it began to rest.
    expect(proxy.seen.filter((call) => call === BEAT).length).toBeLessThanOrEqual(beats + 1);
    const id = await enqueueOne(database, { definitionKey: 'counted' });
    await jobEnded(database, id);
    expect(starts).toEqual([id]);
  });

  it('does not start a job whose delivery came after the end of its lease', async () => {
    let late = 0;
    const fate = (_method: string, _path: string, body: Buffer) => {
      if (!body.includes('"idle":true') || late > 0) return 'pass' as const;
      late += 1;
      return { answerAfterMs: 4_000 };
    };
    const { leases } = await resting({ leaseMs: 1_500, heartbeatMs: 300 }, fate);
    const [before] = await leases();
    const id = await enqueueOne(database, { definitionKey: 'counted' });
    await until('its lease has ended', async () => {
      const [now] = await leases();
      return now?.instance !== before?.instance;
    });
    await jobEnded(database, id);
    expect(late).toBe(1);
    expect(starts).toEqual([id]);
  });
});

describe('between a worker and its server', () => {
  it('a wait for news that a server keeps open does not keep jobs from the worker', async () => {
    const { proxy } = await farAway({ slots: 1 });
    let held = 0;
    // While its only slot is busy, the worker waits with room for nothing.
    proxy.fate = (_method, path, body) => {
      if (!path.endsWith('/turn')) return 'pass';
      const { room, waitMs } = JSON.parse(body.toString()) as { room: number; waitMs: number };
      if (room > 0 || waitMs === 0) return 'pass';
      held += 1;
      return { delayMs: 3_600_000 };
    };
    const busy = await enqueueOne(database, { definitionKey: 'patient' });
    await until('the worker waits for news', () => held === 1);
    await cancelJob(database.db, 'default', busy, { name: 'test', address: null });
    await jobEnded(database, busy);
    for (let n = 0; n < 2; n += 1) {
      const id = await enqueueOne(database, { definitionKey: 'counted' });
      await jobEnded(database, id);
    }
    // The first wait for news is still open: no other one has followed it.
    expect(held).toBe(1);
  });

  it('lost answers of turns cost no attempt, and no job runs twice', async () => {
    const { proxy } = await farAway();
    let lost = 0;
    proxy.fate = (_method, path) => {
      if (!path.endsWith('/turn') || lost >= 6) return 'pass';
      lost += 1;
      return 'lose-answer';
    };
    const ids = await Promise.all(
      Array.from(
        { length: 12 },
        async () => await enqueueOne(database, { definitionKey: 'counted' }),
      ),
    );
    for (const id of ids) {
      await jobEnded(database, id);
      expect(await attemptsOf(id)).toBe(1);
    }
    expect(lost).toBe(6);
    expect(starts.toSorted()).toEqual(ids.toSorted());
  });

  it('calls that arrive twice have one effect', async () => {
    const { proxy } = await farAway();
    proxy.fate = () => 'twice';
    const ids = await Promise.all(
      Array.from(
        { length: 12 },
        async () => await enqueueOne(database, { definitionKey: 'counted' }),
      ),
    );
    for (const id of ids) {
      await jobEnded(database, id);
      expect(await attemptsOf(id)).toBe(1);
    }
    expect(starts.toSorted()).toEqual(ids.toSorted());
  });

  it('a worker that cannot renew its lease stops its jobs before another one starts them', async () => {
    const { proxy } = await farAway({ leaseMs: 1_500, heartbeatMs: 300 });
    const id = await enqueueOne(database, { definitionKey: 'patient' });
    await until('it runs here', () => open.has(id));
    open.clear();
    proxy.fate = () => 'lose-request';
    await until(
      'it is recovered',
      async () => (await getJob(database.db, 'default', id))?.status === 'queued',
    );
    proxy.fate = () => 'pass';
    await until('it runs again', () => open.has(id));
    await cancelJob(database.db, 'default', id, { name: 'test', address: null });
    expect(await jobEnded(database, id)).toMatchObject({ status: 'cancelled' });
  });

  it('a worker that comes back with a new id does not publish its definitions again', async () => {
    const { proxy } = await farAway({ leaseMs: 1_500, heartbeatMs: 300 });
    const rules: unknown[] = [];
    proxy.fate = (method, _path, body) => {
      if (method !== 'PUT') return 'pass';
      const { definitions } = JSON.parse(body.toString()) as { definitions: { rules?: object }[] };
      rules.push(...definitions.map((one) => one.rules));
      return 'pass';
    };
    await database.sql('update longshore.worker set dead_at = now()');
    const id = await enqueueOne(database, { definitionKey: 'counted' });
    expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded' });
    expect(new Set(rules)).toEqual(new Set([undefined]));
  });

  it('an outcome that was stored under a former id is not reported as refused', async () => {
    const warnings: string[] = [];
    const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const log = pino({ level: 'warn' }, { write });
    const { proxy } = await farAway({ leaseMs: 6_000, heartbeatMs: 500, log });
    let former = '';
    let beats = 0;
    let isBack = false;
    let isRetired = false;
    // The answer to its turn is lost. Heartbeats say that the job has ended, and get lost as well
    // until the worker has another id.
    proxy.fate = (method, path, body) => {
      const instance = path.split('/')[3] ?? '';
      if (method === 'DELETE' && instance === former) isRetired = true;
      if (method === 'PUT' && former !== '' && instance !== former) isBack = true;
      if (isBack || method !== 'POST') return 'pass';
      if (former !== '' && path.endsWith('/beat'))
        return (beats += 1) > 2 ? 'lose-request' : 'pass';
      if (former !== '') return 'lose-request';
      if (!path.endsWith('/turn') || body.includes('"outcomes":[]')) return 'pass';
      former = instance;
      return 'lose-answer';
    };
    const id = await enqueueOne(database, { definitionKey: 'counted' });
    // It gives up an id when all outcomes of that time are settled.
    await until('the former id is given up', () => isRetired);
    expect(warnings).not.toContain('a stale outcome was refused: the job has moved on');
    expect(await jobEnded(database, id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(starts).toEqual([id]);
  });

  it('a stop gives back what a lost answer had claimed', async () => {
    const { proxy, stop } = await farAway({ slots: 1 });
    let claimed = false;
    proxy.fate = (_method, path) => {
      if (claimed || !path.endsWith('/turn')) return 'pass';
      return 'lose-answer';
    };
    const id = await enqueueOne(database, { definitionKey: 'counted' });
    await jobBegun(database, id);
    claimed = true;
    await stop();
    const [row] = await database.sql<{ state: string; attempts: number }>(
      `select state::text, attempts from longshore.waiting where id = $1
       union all select state::text, attempts from longshore.done where id = $1`,
      [id],
    );
    expect(row?.attempts).toBe(row?.state === 'queued' ? 0 : 1);
    expect(row?.state).toMatch(/queued|succeeded/);
  });

  it('a worker stops in good order although its server does not answer what it may have claimed', async () => {
    const { proxy, stop } = await farAway({ slots: 2, drainMs: 50 });
    const id = await enqueueOne(database, { definitionKey: 'patient' });
    await until('it runs here', () => open.has(id));
    let lost = 0;
    // Turns that ask for jobs are lost; those that only bring outcomes pass.
    proxy.fate = (_method, path, body) => {
      if (!path.endsWith('/turn')) return 'pass';
      if ((JSON.parse(body.toString()) as { room: number }).room === 0) return 'pass';
      lost += 1;
      return 'lose-request';
    };
    // Its delivery ends the turn that waits; the next one is lost.
    await enqueueOne(database, { definitionKey: 'counted' });
    await until('a turn is lost', () => lost > 0);
    await stop();
    const job = await getJob(database.db, 'default', id);
    expect(job).toMatchObject({ status: 'queued', attempts: 0 });
  });
});
