import { beforeEach, describe, expect, it, test } from 'vitest';
import type { ScheduleView, SlotView } from '../../../src/core/schedule/schedule.ts';
import type { Problem } from '../../../src/protocol/problem.ts';
import { NewScheduleAnswer, SlotAnswer } from '../../../src/protocol/answers/schedule-answer.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';
import { publish } from '../../support/limits.ts';
import { fallBehind, HOURLY, tick } from '../../support/schedules.ts';

const HOUR_MS = 3_600_000;
const database = sharedDatabase({ shards: 4 });
const app = sharedServer(database);

beforeEach(async () => {
  await database.sql('truncate longshore.schedule, longshore.slot');
});

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

async function call<T>(method: Method, url: string, body?: unknown) {
  const answer = await callAs(app, null, method, `/v1/schedules${url}`, { payload: body });
  return { ...answer, body: answer.body as T };
}

async function create(fields: object = {}): Promise<ScheduleView> {
  const body = { definitionKey: 'report', cron: HOURLY, ...fields };
  const { status, body: schedule } = await call<ScheduleView>('POST', '', body);
  expect([status, schedule]).toEqual([201, expect.anything()]);
  return schedule;
}

async function refusal(method: Method, url: string, body?: unknown) {
  const { status, body: problem } = await call<Problem>(method, url, body);
  const pointers = problem.errors?.map(({ pointer }) => pointer);
  return { status, code: problem.code, detail: problem.detail, pointers };
}

const MISSING = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

describe('POST /v1/schedules', () => {
  it('makes a schedule with all its defaults, and says where it is', async () => {
    const asked = { definitionKey: 'report', cron: '30 2 * * *' };
    const { headers, body } = await call<ScheduleView>('POST', '', asked);
    expect(body).toMatchObject({
      ...asked,
      name: null,
      definitionVersion: null,
      timezone: 'UTC',
      params: {},
      priority: 0,
      enabled: true,
      startAt: null,
      endAt: null,
      jitterMs: 0,
      dstGap: 'shift',
      dstRepeat: 'once',
      catchUp: 'latest',
      catchUpWindowMs: 604_800_000,
      catchUpMax: 100,
      overlap: 'allow',
      source: 'api',
      lastEnqueuedAt: null,
      lastSlot: null,
    });
    expect(body.nextAt).toMatch(/T02:30:00\.000Z$/);
    expect(headers['location']).toBe(`/v1/schedules/${body.id}`);
    expect(NewScheduleAnswer.strict().safeParse(body).error).toBeUndefined();
    const detail = 'no worker has registered "report"';
    expect(body).toEqual({
      ...(await call<ScheduleView>('GET', `/${body.id}`)).body,
      warnings: [{ code: 'UNREGISTERED', detail }],
    });
  });

  it('warns of a definition that no worker has registered, or refuses it on request', async () => {
    await publish(database, 'hello', {});
    database.enqueuer.forgetDefinitions();
    const asked = { definitionKey: 'helo', cron: HOURLY };
    const detail = 'no worker has registered "helo": did you mean "hello"?';
    expect(await create(asked)).toMatchObject({ warnings: [{ code: 'UNREGISTERED', detail }] });
    expect(await refusal('POST', '', { ...asked, requireRegistered: true })).toMatchObject({
      status: 422,
      code: 'UNREGISTERED',
      pointers: ['/definitionKey'],
    });
    const known = await create({ definitionKey: 'hello', requireRegistered: true });
    expect(known).not.toHaveProperty('warnings');
    expect(known).not.toHaveProperty('requireRegistered');
    expect(await database.sql('select 1 from longshore.schedule')).toHaveLength(2);
    await database.sql('delete from longshore.definition');
    database.enqueuer.forgetDefinitions();
  });

  it('keeps all that is said', async () => {
    const said = {
      name: 'nightly',
      definitionVersion: 3,
      timezone: 'Europe/Berlin',
      params: { deep: [1, { a: null }] },
      priority: -4,
      enabled: false,
      startAt: '2030-01-01T00:00:00.000Z',
      endAt: '2031-01-01T00:00:00.000Z',
      jitterMs: 1_000,
      dstGap: 'skip',
      dstRepeat: 'twice',
      catchUp: 'all',
      catchUpWindowMs: 5,
      catchUpMax: 7,
      overlap: 'queue-one',
    };
    expect(await create(said)).toMatchObject({ ...said, nextAt: null });
  });

  test.each([
    [{ cron: '0 0 31 4 *' }, ['/cron'], 'matches no day within 400 years'],
    [{ cron: 'often' }, ['/cron'], 'must be 5 fields'],
    [{ timezone: 'Europe/Berln' }, ['/timezone'], 'did you mean "Europe/Berlin"?'],
    [{ endAt: '2020-01-01T00:00:00Z' }, ['/endAt'], 'must leave room for a slot'],
    [{ overlap: 'skipp' }, ['/overlap'], 'did you mean "skip"?'],
    [{ catchup: 'all' }, ['/catchup'], 'did you mean "catchUp"?'],
    [{ params: { ['__proto__x'.slice(0, 9)]: 1 } }, ['/params/__proto__'], 'not allowed'],
    [{ catchUpMax: 0, jitterMs: -1 }, ['/jitterMs', '/catchUpMax'], '; /catchUpMax: '],
    [{ cron: undefined }, ['/cron'], 'is required'],
  ])('refuses %j', async (fields, pointers, words) => {
    const body = { definitionKey: 'report', cron: HOURLY, ...fields };
    const refused = await refusal('POST', '', body);
    expect([refused.status, refused.pointers]).toEqual([400, pointers]);
    expect(refused.detail).toContain(words);
  });

  it('refuses a name twice within a definition', async () => {
    await create({ name: 'nightly' });
    await create({ name: 'nightly', definitionKey: 'other' });
    await create();
    await create();
    const body = { definitionKey: 'report', cron: '@daily', name: 'nightly' };
    expect(await refusal('POST', '', body)).toMatchObject({ status: 409, code: 'CONFLICT' });
  });
});

describe('reading', () => {
  it('lists the newest first, page by page, over all shards', async () => {
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) made.unshift((await create({ definitionKey: `d${n}` })).id);
    const seen: string[] = [];
    let cursor = '';
    do {
      type Page = { schedules: ScheduleView[]; nextCursor: string | null };
      const { body, headers } = await call<Page>('GET', `?limit=3${cursor}`);
      seen.push(...body.schedules.map(({ id }) => id));
      cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
      expect(headers['link'] !== undefined).toBe(cursor !== '');
    } while (cursor !== '');
    expect(seen).toEqual(made);
    const narrowed = await call<{ schedules: ScheduleView[] }>('GET', '?definitionKey=d3');
    expect(narrowed.body.schedules.map(({ definitionKey }) => definitionKey)).toEqual(['d3']);
    expect(await refusal('GET', '?cursor=zzz')).toMatchObject({ status: 400 });
    expect(await refusal('GET', '?enabled=maybe')).toMatchObject({ status: 400 });
  });

  it('previews with offsets and notes', async () => {
    const { id } = await create({ cron: '30 2 * * *', timezone: 'Europe/Berlin', enabled: false });
    type Next = { next: { at: string; offset: string; note: string | null }[] };
    const { body } = await call<Next>('GET', `/${id}/next?count=100`);
    expect(body.next).toHaveLength(100);
    expect(new Set(body.next.map(({ offset }) => offset)).size).toBeLessThanOrEqual(2);
    expect((await call<Next>('GET', `/${id}/next`)).body.next).toEqual(body.next.slice(0, 5));
    expect(await refusal('GET', `/${id}/next?count=101`)).toMatchObject({ status: 400 });
  });

  it('pages through slots, the newest first', async () => {
    const { id } = await create({ catchUp: 'all' });
    await fallBehind(database, id, 5 * HOUR_MS, HOUR_MS);
    await tick(database);
    type Page = { slots: SlotView[]; nextCursor: string | null };
    const first = (await call<Page>('GET', `/${id}/slots?limit=3`)).body;
    const rest = (await call<Page>('GET', `/${id}/slots?cursor=${first.nextCursor}`)).body;
    const slots = [...first.slots, ...rest.slots];
    expect([first.slots.length, rest.slots.length, rest.nextCursor]).toEqual([3, 2, null]);
    expect(slots.map(({ slot }) => slot)).toEqual(
      slots
        .map(({ slot }) => slot)
        .sort()
        .reverse(),
    );
    expect(new Set(slots.map(({ slot }) => slot)).size).toBe(5);
    expect(SlotAnswer.strict().safeParse(slots[0]).error).toBeUndefined();
    expect(slots.every(({ jobStatus }) => jobStatus === 'queued')).toBe(true);
    expect(await refusal('GET', `/${id}/slots?cursor=${'a'.repeat(9)}`)).toMatchObject({
      status: 400,
    });
    const { body } = await call<ScheduleView>('GET', `/${id}`);
    expect(body.lastSlot).toEqual(slots[0]);
  });
});

describe('GET /v1/schedules/preview', () => {
  const preview = (fields: Record<string, string>) =>
    `/preview?${new URLSearchParams(fields).toString()}`;

  it('computes the runs that a schedule would have, and stores nothing', async () => {
    const asked = { cron: '30 2 * * *', timezone: 'Asia/Tokyo', count: '3' };
    const { status, body } = await call<{ next: { at: string; offset: string }[] }>(
      'GET',
      preview(asked),
    );
    expect([status, body.next.length]).toEqual([200, 3]);
    for (const { at, offset } of body.next) {
      expect([at.slice(11), offset]).toEqual(['17:30:00.000Z', '+09:00']);
    }
    expect((await call<{ schedules: object[] }>('GET', '')).body.schedules).toEqual([]);
  });

  it('follows the bounds and the policies for clock changes', async () => {
    const gap = { cron: '30 2 29 3 *', timezone: 'Europe/Berlin', startAt: '2032-01-01T00:00:00Z' };
    type Runs = { next: { at: string; note: string | null }[] };
    const at = async (more: Record<string, string>) =>
      (await call<Runs>('GET', preview({ ...gap, ...more }))).body.next[0]?.at;
    expect(await at({})).toBe('2032-03-29T00:30:00.000Z');
    expect(await at({ cron: '30 2 28 3 *' })).toBe('2032-03-28T01:00:00.000Z');
    expect(await at({ cron: '30 2 28 3 *', dstGap: 'skip' })).toBe('2033-03-28T00:30:00.000Z');
  });

  it.each([
    [{ cron: '61 * * * *' }, '/cron'],
    [{ cron: '0 0 31 4 *' }, '/cron'],
    [{ cron: '@daily', timezone: 'Mars/Phobos' }, '/timezone'],
    [{ cron: '@daily', endAt: '2020-01-01T00:00:00Z' }, '/endAt'],
    [{ cron: '@daily', count: '0' }, 'count'],
    [{ timezone: 'UTC' }, 'cron'],
  ])('refuses %j', async (fields, pointer) => {
    const refused = await refusal('GET', preview(fields));
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED' });
    expect(refused.pointers?.[0]).toContain(pointer);
  });
});

describe('changing', () => {
  it('takes what is named and leaves the rest', async () => {
    const before = await create({ name: 'a', params: { n: 1 }, timezone: 'Asia/Tokyo' });
    const patch = { cron: '15 * * * *', name: null, overlap: 'skip' };
    const { status, body } = await call<ScheduleView>('PATCH', `/${before.id}`, patch);
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...patch, params: { n: 1 }, timezone: 'Asia/Tokyo' });
    expect(body.nextAt).toMatch(/:15:00\.000Z$/);
  });

  it('refuses what makes no sense, and what cannot be changed', async () => {
    const { id } = await create();
    const impossible = await refusal('PATCH', `/${id}`, { cron: '0 0 31 4 *' });
    expect(impossible).toMatchObject({ status: 400, pointers: ['/cron'] });
    const moved = await refusal('PATCH', `/${id}`, { definitionKey: 'other' });
    expect(moved).toMatchObject({ status: 400, pointers: ['/definitionKey'] });
    expect(moved.detail).toContain('create another schedule');
    expect(await refusal('PATCH', `/${id}`, [])).toMatchObject({ status: 400 });
    expect(await refusal('PATCH', `/${id}`)).toMatchObject({ status: 400 });
  });

  it('pauses, resumes and triggers', async () => {
    const { id } = await create();
    const paused = await call<ScheduleView>('POST', `/${id}/pause`);
    expect([paused.status, paused.body.enabled, paused.body.nextAt]).toEqual([200, false, null]);
    const triggered = await call<{ jobId: string }>('POST', `/${id}/trigger`, {});
    expect(triggered.status).toBe(202);
    expect(triggered.headers['location']).toBe(`/v1/jobs/${triggered.body.jobId}`);
    const resumed = await call<ScheduleView>('POST', `/${id}/resume`);
    expect([resumed.status, resumed.body.enabled]).toEqual([200, true]);
    expect(Date.parse(resumed.body.nextAt ?? '')).toBeGreaterThan(Date.now());
    expect(resumed.body.lastSlot).toMatchObject({
      reason: 'triggered',
      jobId: triggered.body.jobId,
    });
    expect(await refusal('POST', `/${id}/pause`, { why: 1 })).toMatchObject({ status: 400 });
  });

  it('keeps who paused it and why, until it is resumed', async () => {
    const { id, paused: before } = await create({ name: 'nightly' });
    expect(before).toBeNull();
    const reason = 'the mail server is down';
    const first = await call<ScheduleView>('POST', `/${id}/pause`, { reason });
    expect(first.body.paused).toEqual({
      since: expect.any(String),
      by: 'anonymous (no keys)',
      reason,
    });
    const renamed = await call<ScheduleView>('PATCH', `/${id}`, { name: 'weekly' });
    expect(renamed.body.paused).toEqual(first.body.paused);
    const kept = await call<ScheduleView>('POST', `/${id}/pause`);
    expect(kept.body.paused).toEqual(first.body.paused);
    const again = await call<ScheduleView>('POST', `/${id}/pause`, { reason: 'still down' });
    expect(again.body.paused).toEqual({ ...first.body.paused, reason: 'still down' });
    const resumed = await call<ScheduleView>('POST', `/${id}/resume`);
    expect(resumed.body.paused).toBeNull();
    const born = await create({ enabled: false });
    expect(born.paused).toMatchObject({ by: 'anonymous (no keys)', reason: null });
    const long = await refusal('POST', `/${id}/pause`, { reason: 'x'.repeat(501) });
    expect(long).toMatchObject({ status: 400, pointers: ['/reason'] });
  });

  it('deletes', async () => {
    const { id } = await create();
    const deleted = await call('DELETE', `/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect(await refusal('DELETE', `/${id}`)).toMatchObject({ status: 404 });
  });

  it('leaves a schedule of code to the code, but for pausing', async () => {
    const { id } = await create();
    await database.sql(`update longshore.schedule set source = 'code' where id = $1`, [id]);
    expect(await refusal('PATCH', `/${id}`, { cron: '@daily' })).toMatchObject({ status: 409 });
    expect(await refusal('DELETE', `/${id}`)).toMatchObject({ status: 409 });
    expect((await call('PATCH', `/${id}`, { enabled: false })).status).toBe(200);
  });
});

test.each([
  ['GET', ''],
  ['GET', '/next'],
  ['GET', '/slots'],
  ['PATCH', ''],
  ['POST', '/pause'],
  ['POST', '/resume'],
  ['POST', '/trigger'],
  ['DELETE', ''],
] as const)('%s of a schedule that is not there is 404 (%s)', async (method, suffix) => {
  const body = method === 'PATCH' ? {} : undefined;
  for (const id of [MISSING, 'nonsense', '0']) {
    const refused = await refusal(method, `/${id}${suffix}`, body);
    expect(refused).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  }
});
