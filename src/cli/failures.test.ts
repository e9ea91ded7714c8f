import { describe, expect, test } from 'vitest';
import { run, start } from '../../test/support/cli.ts';
import { json, playAnswers, problem } from '../../test/support/servers/playing-server.ts';
import { until } from '../../test/support/until.ts';
import { progressBar } from './text/bulk-text.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const OTHER = '01980000-0000-7000-8000-000000000001';

const bulk = (changes: object = {}) => ({
  bulkId: ID,
  action: 'retry' as const,
  status: 'running' as const,
  filter: {},
  mode: 'now' as const,
  ratePerSecond: null,
  matched: 7,
  matchedIsExact: true,
  done: 3,
  skipped: 1,
  failed: 0,
  note: null,
  createdAt: '2030-01-01T00:00:00Z',
  finishedAt: null,
  ...changes,
});
const preview = (matched: number) =>
  json(200, {
    action: 'retry',
    matched,
    matchedIsExact: true,
    sample: [
      {
        jobId: OTHER,
        definitionKey: 'a',
        status: 'failed',
        error: { code: 'X', message: 'boom', cause: null },
      },
    ],
  });

describe('retry and delete', () => {
  test('retry each job with what the flags say', async () => {
    const { url, seen } = await playAnswers(json(202, { jobId: ID, status: 'queued' }));
    const flags = ['--mode', 'later', '--run-at', '2030-02-01T00:00:00Z', '--params', '{"a":1}'];
    const { code, stdout } = await run(['retry', ID, OTHER, ...flags, '--url', url]);
    expect([code, stdout]).toEqual([0, `${ID}  queued\n${ID}  queued\n`]);
    const body = { mode: 'later', runAt: '2030-02-01T00:00:00Z', params: { a: 1 } };
    const changes = seen.filter(({ method }) => method === 'POST');
    expect(changes.map(({ url: path }) => path)).toEqual([
      `/v1/jobs/${ID}/retry`,
      `/v1/jobs/${OTHER}/retry`,
    ]);
    expect(changes.map((one) => one.body)).toEqual([body, body]);
  });

  test('retry of a batch retries its jobs and says so', async () => {
    const job = json(200, { jobId: ID, definitionKey: '$batch', status: 'failed' });
    const { url, seen } = await playAnswers(job, json(200, { id: ID, status: 'running' }));
    const { code, stdout, stderr } = await run(['retry', ID, '--url', url]);
    expect([code, stdout]).toEqual([0, `${ID}  running\n`]);
    expect(stderr).toContain('this is a batch: its jobs that did not succeed are retried');
    expect(seen.at(-1)?.url).toBe(`/v1/batches/${ID}/retry`);
  });

  test('a refusal is exit code 5, a wrong mode 2', async () => {
    const { url } = await playAnswers(problem(409, 'CONFLICT'));
    expect((await run(['retry', ID, '--url', url])).code).toBe(5);
    const wrong = await run(['retry', ID, '--mode', 'nwo', '--url', url]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('now, later, reset')]);
  });

  test('delete asks first, unless --yes is given', async () => {
    const { url, seen } = await playAnswers((response) => response.writeHead(204).end());
    const unsure = await run(['delete', ID, '--url', url]);
    expect([unsure.code, unsure.stderr, seen]).toEqual([2, expect.stringContaining('--yes'), []]);
    const { code, stdout } = await run(['delete', ID, '--yes', '--url', url]);
    expect([code, stdout, seen[0]?.method]).toEqual([0, `${ID}  deleted\n`, 'DELETE']);
  });
});

describe('dlq', () => {
  const page = (jobs: object[], nextCursor: string | null = null) =>
    json(200, { jobs, nextCursor });

  test('lists dead letters', async () => {
    const letter = {
      jobId: ID,
      definitionKey: 'a',
      finishedAt: '2030-01-01T00:00:00Z',
      fingerprint: 'f00',
      error: { code: 'TIMEOUT', message: 'slow\u001b[2J' },
    };
    const { url, seen } = await playAnswers(page([letter], 'next'));
    const flags = ['--definition', 'a', '--error-code', 'TIMEOUT', '--q', 'slow'];
    const { stdout, stderr } = await run(['dlq', 'list', ...flags, '--url', url]);
    expect(stdout.split('\n')[1]).toBe(
      `${ID}  a           1m      f00          TIMEOUT slow\\u001b[2J`,
    );
    expect(stderr).toBe('Next page: --cursor next\n');
    expect(seen[0]?.url).toBe('/v1/dead-letters?definitionKey=a&errorCode=TIMEOUT&q=slow');
  });

  test('an empty page that is not the last one is not told as the end', async () => {
    const { url } = await playAnswers(page([], 'next'));
    const { stderr } = await run(['dlq', 'list', '--q', 'x', '--url', url]);
    expect((await run(['dlq', '--url', url])).stderr).toBe(stderr);
    expect(stderr).toBe(
      'No matches so far; not all dead letters were searched.\nNext page: --cursor next\n',
    );
  });

  test('tells the groups, and whether these are all', async () => {
    const group = {
      fingerprint: 'f00',
      code: 'TIMEOUT',
      message: 'slow',
      count: 2000,
      countIsExact: false,
      firstSeen: '2030-01-01T00:00:00Z',
      lastSeen: '2030-01-01T00:00:30Z',
      definitionKeys: ['a', 'b'],
    };
    const { url } = await playAnswers(json(200, { groups: [group], complete: false }));
    const { stdout, stderr } = await run(['dlq', 'groups', '--url', url]);
    expect(stdout.split('\n')[1]).toBe(
      '2000+  f00          1m     30s   a,b          TIMEOUT slow',
    );
    expect(stderr).toMatch('More groups exist');
  });

  test('retry counts and asks, then begins and waits', async () => {
    const finished = json(200, bulk({ status: 'finished', done: 7, skipped: 0 }));
    const { url, seen } = await playAnswers(
      preview(7),
      json(202, bulk()),
      json(200, bulk()),
      finished,
      preview(7),
    );
    const args = ['dlq', 'retry', '--fingerprint', 'f00', '--rate-per-second', '2.5', '--yes'];
    const { code, stdout, stderr } = await run([...args, '--url', url]);
    const words = '7 jobs queued again. 7 failed again so far.\n';
    expect([code, stdout, stderr]).toEqual([0, `${ID}\n`, words]);
    expect(seen[1]?.body).toEqual({ fingerprint: 'f00', ratePerSecond: 2.5 });
    const asked = await playAnswers(preview(7));
    const unsure = await run(['dlq', 'retry', '--url', asked.url]);
    expect([unsure.code, asked.seen.length, asked.seen[0]?.body]).toEqual([
      2,
      1,
      { preview: true },
    ]);
    expect(unsure.stderr).toContain(
      'this would retry 7 jobs: add --yes to confirm, or --dry-run to see them',
    );
    const none = await playAnswers(preview(0));
    expect(await run(['dlq', 'retry', '--url', none.url])).toMatchObject({
      code: 0,
      stderr: 'No matching jobs.\n',
    });
  });
});

describe('bulk', () => {
  test.each(['--preview', '--dry-run'])('%s says what it would be about', async (dry) => {
    const { url, seen } = await playAnswers(preview(7));
    const flags = ['--status', 'queued,created', '--created-before', '2030-01-01T00:00:00Z'];
    const { stdout, stderr } = await run(['bulk', 'cancel', ...flags, dry, '--yes', '--url', url]);
    expect([stdout, stderr]).toEqual([
      `${OTHER}  a  failed  X boom\n`,
      '7 jobs would be changed.\n',
    ]);
    expect(seen).toHaveLength(1);
    expect(seen[0]?.body).toEqual({
      action: 'cancel',
      filter: { status: ['queued', 'created'], createdBefore: '2030-01-01T00:00:00Z' },
      preview: true,
    });
  });

  test('need not be waited for, and speaks JSON', async () => {
    const { url, seen } = await playAnswers(json(202, bulk({ action: 'delete' })));
    const args = ['bulk', 'delete', '--definition', 'a', '--yes', '--no-wait', '--json'];
    const { code, stdout } = await run([...args, '--url', url]);
    expect([code, JSON.parse(stdout)]).toEqual([0, bulk({ action: 'delete' })]);
    expect(seen).toHaveLength(1);
  });

  test('a retry counts how its jobs ended, one by one if all are known', async () => {
    const over = bulk({ status: 'finished', matched: 1, done: 1, skipped: 0 });
    const { url, seen } = await playAnswers(
      preview(1),
      json(202, over),
      json(200, over),
      preview(1),
      preview(0),
    );
    const { stderr } = await run(['bulk', 'retry', '--tag', 'x', '--yes', '--url', url]);
    expect(stderr).toBe('1 job queued again. 0 succeeded, 1 failed again.\n');
    const asked = { jobIds: [OTHER], finishedAfter: '2030-01-01T00:00:00Z' };
    expect(seen.slice(3).map(({ body }) => body)).toEqual([
      { action: 'delete', filter: { ...asked, status: ['failed', 'cancelled'] }, preview: true },
      { action: 'delete', filter: { ...asked, status: 'succeeded' }, preview: true },
    ]);
  });

  test('a retry whose jobs have not ended says where to look later', async () => {
    const over = bulk({ status: 'finished', matched: 1, done: 1, skipped: 0 });
    const { url } = await playAnswers(preview(1), json(202, over), json(200, over), preview(0));
    const { stderr } = await run(['bulk', 'retry', '--tag', 'x', '--yes', '--url', url]);
    expect(stderr).toBe(
      '1 job queued again. 0 succeeded, 0 failed again, 1 has not ended yet. ' +
        `Show it with: npx longshore bulk show ${ID} --url ${url}\n`,
    );
  });

  test('shows the jobs before it asks', async () => {
    const { url, seen } = await playAnswers(preview(7));
    const asking = start(['bulk', 'retry', '--tag', 'x', '--url', url], { stdin: 'n\n' });
    Object.assign(asking.cli.stdin, { isTTY: true });
    await asking.ended;
    expect(asking.stderr.text()).toMatch(
      new RegExp(`^${OTHER}  a  failed  X boom\n… and 6 more\nRetry 7 jobs\\? \\[y/N\\]`),
    );
    expect(seen).toHaveLength(1);
  });

  test('ends with 1 when something could not be changed', async () => {
    const over = bulk({ action: 'cancel', status: 'finished', failed: 2, note: 'no room' });
    const { url } = await playAnswers(json(202, bulk()), json(200, over));
    const { code, stderr } = await run(['bulk', 'cancel', '--tag', 'x', '--yes', '--url', url]);
    expect([code, stderr]).toEqual([
      1,
      '3 of 7 jobs cancelled, 1 skipped, 2 failed. The last error: no room.\n',
    ]);
  });

  test('Ctrl-C leaves it to go on by itself', async () => {
    const { url, seen } = await playAnswers(preview(7), json(202, bulk()), json(200, bulk()));
    const running = start(['bulk', 'retry', '--tag', 'x', '--yes', '--url', url]);
    await until('it waits', () => seen.length > 2);
    running.cli.onSignal?.('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.stderr.text()).toMatch(
      `The action continues. Show it with: npx longshore bulk show ${ID} --url ${url}`,
    );
    expect(seen.some(({ url: path }) => path.endsWith('/abort'))).toBe(false);
  });

  test('list, show and abort', async () => {
    const { url, seen } = await playAnswers(
      json(200, { bulks: [bulk({ matchedIsExact: false })], nextCursor: null }),
      json(200, bulk()),
      preview(2),
      json(202, bulk({ action: 'cancel', status: 'aborted' })),
    );
    const listed = await run(['bulk', 'list', '--url', url]);
    expect(listed.stdout.split('\n')[1]).toBe(
      `${ID}  retry   running  3     1        0       7+       1m`,
    );
    const shown = await run(['bulk', 'show', ID, '--url', url]);
    expect(shown.stdout).toBe(
      '3 of 7 jobs queued again, 1 skipped. 2 failed again so far. ' +
        `Show it with: npx longshore bulk show ${ID} --url ${url}\n`,
    );
    const aborted = await run(['bulk', 'abort', ID, '--url', url]);
    expect(aborted.stdout).toBe('3 of 7 jobs cancelled, 1 skipped. Stopped by a user.\n');
    expect(seen[3]).toMatchObject({ method: 'POST', url: `/v1/bulk/${ID}/abort` });
  });

  test('a bar tells how far it has come', () => {
    expect(progressBar(bulk())).toBe(`[${'#'.repeat(17).padEnd(30, '.')}] 4 of 7`);
    expect(progressBar(bulk({ matched: 0 }))).toMatch(/^\[#{30}\]/);
  });
});
