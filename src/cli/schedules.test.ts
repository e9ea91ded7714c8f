import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { run, start } from '../../test/support/cli.ts';
import { json, playAnswers, problem } from '../../test/support/servers/playing-server.ts';
import type { Schedule } from '../client/index.ts';
import { SCHEDULE_DEFAULTS } from '../core/schedule/schedule.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const OTHER = '01980000-0000-7000-8000-000000000400';

const schedule: Schedule = {
  ...SCHEDULE_DEFAULTS,
  id: ID,
  tenant: 'default',
  name: 'nightly',
  definitionKey: 'report',
  cron: '30 2 * * *',
  params: { a: 1 },
  source: 'api',
  note: null,
  paused: null,
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
  lastEnqueuedAt: null,
  nextAt: '2030-01-01T02:30:00.000Z',
  lastSlot: {
    slot: '2029-12-31T02:30:00.000Z',
    local: '2029-12-31T02:30:00',
    status: 'fired',
    reason: null,
    through: null,
    jobId: OTHER,
    jobStatus: 'failed',
  },
};
const page = (...schedules: unknown[]) => json(200, { schedules, nextCursor: null });

describe('schedules create and update', () => {
  test('prints the warnings of the server, and can require a registered definition', async () => {
    const detail = 'no worker has registered "report": did you mean "reports"?';
    const warned = { ...schedule, warnings: [{ code: 'UNREGISTERED', detail }] };
    const { url, seen } = await playAnswers(json(201, warned), json(201, warned));
    const args = ['schedules', 'create', 'report', '@daily', '--url', url];
    const { stdout, stderr } = await run(args);
    expect(stdout).toBe(`${ID}\n`);
    expect(stderr).toBe(`runs in 2h29m\nwarning: ${detail}\n`);
    expect(seen.map((one) => one.url)).toEqual(['/v1/schedules']);
    const programs = await run([...args, '--require-registered', '--json']);
    expect(JSON.parse(programs.stdout)).toEqual(warned);
    expect(seen[1]?.body).toMatchObject({ requireRegistered: true });
  });

  test('send what the flags say, and print the id alone on stdout', async () => {
    const { url, seen } = await playAnswers(json(201, schedule));
    const policies = ['--dst-gap', 'skip', '--catch-up', 'all', '--catch-up-max', '7'];
    const flags = ['--name', 'nightly', '--timezone', 'Asia/Tokyo', '--params', '{"a":1}'];
    const args = ['schedules', 'create', 'report', '30 2 * * *', '--paused', ...policies, ...flags];
    const { code, stdout, stderr } = await run([...args, '--url', url]);
    expect([code, stdout]).toEqual([0, `${ID}\n`]);
    expect(stderr).toBe('runs in 2h29m\n');
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/schedules' });
    expect(seen[0]?.body).toEqual({
      definitionKey: 'report',
      cron: '30 2 * * *',
      enabled: false,
      dstGap: 'skip',
      catchUp: 'all',
      catchUpMax: 7,
      name: 'nightly',
      timezone: 'Asia/Tokyo',
      params: { a: 1 },
    });
  });

  test('change only what is named', async () => {
    const { url, seen } = await playAnswers(page(schedule), json(200, schedule));
    const args = ['schedules', 'update', 'nightly', '--cron', '@daily', '--url', url];
    expect((await run(args)).code).toBe(0);
    expect(seen[0]?.url).toBe('/v1/schedules?name=nightly');
    expect(seen[1]).toMatchObject({ method: 'PATCH', url: `/v1/schedules/${ID}` });
    expect(seen[1]?.body).toEqual({ cron: '@daily' });
    const nothing = await run(['schedules', 'update', 'nightly']);
    expect([nothing.code, nothing.stderr]).toEqual([
      2,
      'error: nothing to change: give at least one flag\n',
    ]);
  });

  test.each([
    [['--overlap', 'skipp'], 'Allowed choices are allow, skip, queue-one'],
    [['--jitter-ms', 'much'], 'Must be a whole number'],
    [['--params', '{a}'], 'not JSON'],
  ])('refuse %j', async (flags, words) => {
    const { code, stderr } = await run(['schedules', 'create', 'report', '@daily', ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});

describe('looking', () => {
  test('list is a table, with the result of the last slot and when it is next', async () => {
    const paused = { ...schedule, id: OTHER, name: null, enabled: false, nextAt: null };
    const { url } = await playAnswers(page(schedule, { ...paused, lastSlot: null }));
    const { stdout } = await run(['schedules', 'list', '--url', url]);
    const [header = '', first = '', second = ''] = stdout.split('\n');
    expect(header).toMatch(/^ID +NAME +DEFINITION +CRON +ZONE +LAST +NEXT$/);
    expect(first).toMatch(/nightly +report +30 2 \* \* \* +UTC +failed +runs in 2h29m$/);
    expect(second).toMatch(/ - +report .* - +paused$/);
  });

  test('show takes an id or a name', async () => {
    const { url, seen } = await playAnswers(json(200, schedule));
    const { code, stdout } = await run(['schedules', 'show', ID, '--url', url]);
    expect(code).toBe(0);
    expect(seen[0]?.url).toBe(`/v1/schedules/${ID}`);
    expect(stdout).toMatch(/^runs in 2h29m\n\nid +01980000/);
    expect(stdout).toContain('catch-up    latest within 7d');
    expect(stdout).toContain('last        2029-12-31T02:30:00.000Z failed');
  });

  test('a name that is not there is 3, one that several have asks for the id', async () => {
    const unnamed = { ...schedule, id: OTHER, name: null };
    const none = await playAnswers(page(), page(), page(schedule, unnamed));
    expect(await run(['schedules', 'show', 'nigthly', '--url', none.url])).toMatchObject({
      code: 3,
      stderr: 'error: no schedule is named "nigthly": did you mean "nightly"?\n',
    });
    const both = await playAnswers(page(schedule, { ...schedule, id: OTHER }));
    const { code, stderr } = await run(['schedules', 'show', 'x', '--url', both.url]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${ID} (report), ${OTHER} (report)`);
  });

  test('next prints instants, offsets and notes', async () => {
    const next = [{ at: '2030-01-01T02:30:00.000Z', offset: '+00:00', note: 'comes twice' }];
    const { url, seen } = await playAnswers(json(200, schedule), json(200, { next }));
    const { stdout } = await run(['schedules', 'next', ID, '--count', '1', '--url', url]);
    expect(seen[1]?.url).toBe(`/v1/schedules/${ID}/next?count=1`);
    expect(stdout.split('\n')[1]).toBe('2030-01-01T02:30:00.000Z  +00:00  in 2h29m  comes twice');
  });

  test('preview asks for the runs of an expression', async () => {
    const next = [{ at: '2030-01-01T02:30:00.000Z', offset: '+00:00', note: null }];
    const { url, seen } = await playAnswers(json(200, { next }));
    const flags = ['--timezone', 'Asia/Tokyo', '--dst-gap', 'skip', '--count', '1'];
    const { stdout } = await run(['schedules', 'preview', '30 2 * * *', ...flags, '--url', url]);
    const asked = new URL(seen[0]?.url ?? '', url);
    expect([asked.pathname, Object.fromEntries(asked.searchParams)]).toEqual([
      '/v1/schedules/preview',
      { cron: '30 2 * * *', timezone: 'Asia/Tokyo', dstGap: 'skip', count: '1' },
    ]);
    expect(stdout.split('\n')[1]).toBe('2030-01-01T02:30:00.000Z  +00:00  in 2h29m');
  });

  test('slots prints results and reasons, --json the document', async () => {
    const range = {
      ...schedule.lastSlot,
      status: 'skipped',
      reason: 'missed',
      jobId: null,
      jobStatus: null,
      through: '2029-12-31T05:30:00.000Z',
    };
    const answer = json(200, { slots: [schedule.lastSlot, range], nextCursor: 'abc' });
    const { url } = await playAnswers(json(200, schedule), answer, json(200, schedule), answer);
    const { stdout, stderr } = await run(['schedules', 'slots', ID, '--url', url]);
    expect(stdout).toMatch(/failed +01980000-0000-7000-8000-000000000400\n/);
    expect(stdout).toContain('missed, up to 2029-12-31T05:30:00.000Z');
    expect(stderr).toBe('Next page: --cursor abc\n');
    const asJson = await run(['schedules', 'slots', ID, '--json', '--url', url]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ slots: [{ jobId: OTHER }, { jobId: null }] });
  });
});

describe('doing', () => {
  test('pause, resume and trigger', async () => {
    const because = { since: '2029-12-31T23:00:00.000Z', by: 'key:k1', reason: 'mail is down' };
    const paused = { ...schedule, enabled: false, nextAt: null, paused: because };
    const { url, seen } = await playAnswers(
      json(200, schedule),
      json(200, paused),
      json(200, paused),
      json(200, schedule),
      json(200, schedule),
      json(202, { jobId: OTHER }),
    );
    const pause = ['schedules', 'pause', ID, '--reason', 'mail is down', '--url', url];
    expect((await run(pause)).stderr).toMatch(/^paused 1h.* ago by key:k1: mail is down\n$/);
    expect(seen[1]?.body).toEqual({ reason: 'mail is down' });
    expect((await run(['schedules', 'resume', ID, '--url', url])).stderr).toMatch(/^runs in/);
    const { stdout } = await run(['schedules', 'trigger', ID, '--url', url]);
    expect(stdout).toBe(`${OTHER}\n`);
    expect(seen.filter(({ method }) => method === 'POST').map(({ url: path }) => path)).toEqual([
      `/v1/schedules/${ID}/pause`,
      `/v1/schedules/${ID}/resume`,
      `/v1/schedules/${ID}/trigger`,
    ]);
  });

  /** A terminal with this input. */
  async function typing(words: string, url: string) {
    const { cli, ended, stderr, stdout } = start(['schedules', 'delete', ID, '--url', url]);
    cli.stdin = Object.assign(new PassThrough(), { isTTY: true });
    (cli.stdin as PassThrough).write(`${words}\n`);
    return { code: await ended, stderr: stderr.text(), stdout: stdout.text() };
  }

  test('delete asks first, and does nothing without a yes', async () => {
    const gone = await playAnswers(json(200, schedule), (response) => {
      response.writeHead(204).end();
    });
    const yes = await typing('y', gone.url);
    expect([yes.code, yes.stdout]).toEqual([0, `${ID}\n`]);
    expect(yes.stderr).toContain('Delete the schedule "30 2 * * *" of report? [y/N]');
    expect(gone.seen[1]).toMatchObject({ method: 'DELETE', url: `/v1/schedules/${ID}` });
    const kept = await playAnswers(json(200, schedule));
    const no = await typing('', kept.url);
    expect([no.code, no.stdout]).toEqual([0, '']);
    expect(no.stderr).toContain('Nothing was deleted.');
    expect(kept.seen).toHaveLength(1);
  });

  test('delete needs --yes without a terminal; an error keeps its exit code', async () => {
    const asked = await playAnswers(json(200, schedule));
    const { code, stderr } = await run(['schedules', 'delete', ID, '--url', asked.url]);
    expect([code, asked.seen.length]).toEqual([2, 1]);
    expect(stderr).toContain('add --yes');
    const refused = await playAnswers(json(200, schedule), problem(409, 'CONFLICT'));
    const args = ['schedules', 'delete', ID, '--yes', '--url', refused.url];
    expect((await run(args)).code).toBe(5);
  });
});

describe('a schedule of code without a name', () => {
  const none = page();
  const ofCode = { ...schedule, name: 'default', definitionKey: 'report.nightly', source: 'code' };

  test('is found by the key of its definition', async () => {
    const { url, seen } = await playAnswers(none, page(ofCode), json(201, { jobId: OTHER }));
    const ran = await run(['schedules', 'trigger', 'report.nightly', '--url', url]);
    expect([ran.code, ran.stdout]).toEqual([0, `${OTHER}\n`]);
    expect(seen.map((one) => one.url)).toEqual([
      '/v1/schedules?name=report.nightly',
      '/v1/schedules?definitionKey=report.nightly',
      `/v1/schedules/${ID}/trigger`,
    ]);
  });

  test('needs its name or id if the definition has several', async () => {
    const other = { ...ofCode, id: OTHER, name: 'month-end' };
    const { url } = await playAnswers(none, page(ofCode, other));
    const { code, stderr } = await run(['schedules', 'show', 'report.nightly', '--url', url]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      `report.nightly has several schedules, use an id or a name: ${ID} (default), ${OTHER} (month-end)`,
    );
  });
});

describe('run-due', () => {
  test('prints what became of what was due', async () => {
    const { code, stdout } = await run(['run-due', '--max', '3', '--seconds', '1.5']);
    expect(code).toBe(0);
    expect(stdout).toBe('claimed 3, succeeded 2, retried 1, dead letters 0, remaining 1.5\n');
    const asJson = await run(['run-due', '--json']);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ claimed: 100, remaining: 50 });
    expect((await run(['run-due', '--max', '0'])).code).toBe(2);
  });
});
