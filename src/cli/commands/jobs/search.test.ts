import type { ServerResponse } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';
import { json, playAnswers, playBeside } from '../../../../test/support/servers/playing-server.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const NONE = { jobs: [], nextCursor: null, searchedUntil: null };
const VALUES = { definitions: ['orders.import'], owners: [], codes: [], tags: ['eu'] };
const VIEW = {
  name: 'on-call',
  screen: 'jobs',
  query: 'status=failed&q=owner%3Abilling&since=1h',
  createdAt: '2030-01-01T00:00:00Z',
  updatedAt: '2030-01-01T00:00:00Z',
  updatedBy: 'key:1',
};

test('the words of list are one search', async () => {
  const { url, seen } = await playBeside(
    { '/v1/search-values': json(200, VALUES) },
    json(200, NONE),
  );
  const { stderr } = await run(['list', 'status:failed', 'owner:"a b"', 'timeout', '--url', url]);
  expect(stderr).toBe('No matching jobs.\n');
  expect(new URL(seen[0]?.url ?? '', url).searchParams.get('q')).toBe(
    'status:failed owner:"a b" timeout',
  );
});

test.each([
  ['jobs', ['list']],
  ['dead letters', ['dlq', 'list', '--q']],
])('without matching %s, the params that were not searched are named', async (what, args) => {
  const { url } = await playBeside(
    { '/v1/search-values': json(200, VALUES) },
    json(200, { ...NONE, unsearched: ['encrypted', 'large'] }),
  );
  const { stderr } = await run([...args, 'ada', '--url', url]);
  expect(stderr).toBe(
    `No matching ${what}.\nEncrypted and large params are not searched: jobs that have the text only there are not found.\n`,
  );
});

test.each([['list'], ['dlq', 'list', '--q']])(
  '%s names what is near to a typo',
  async (...args) => {
    const { url } = await playBeside({ '/v1/search-values': json(200, VALUES) }, json(200, NONE));
    const { stderr } = await run([...args, 'definition:order.import', '--url', url]);
    expect(stderr).toMatch(
      /warning: no job has definition:order.import: did you mean definition:orders.import\?\n$/,
    );
  },
);

test('list reads a saved view, and adds words to it', async () => {
  const { url, seen } = await playAnswers(json(200, { views: [VIEW] }), json(200, NONE));
  await run(['list', 'timeout', '--view', 'on-call', '--url', url]);
  const asked = new URL(seen[1]?.url ?? '', url).searchParams;
  expect(asked.get('q')).toBe('owner:billing timeout');
  expect(asked.getAll('status')).toEqual(['failed']);
  expect(asked.get('createdAfter')).toMatch(/^20/);
});

test('an unknown view is refused with the nearest one', async () => {
  const { url } = await playAnswers(json(200, { views: [VIEW] }));
  const { code, stderr } = await run(['list', '--view', 'on-cal', '--url', url]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean "on-call"?')]);
});

describe('views', () => {
  test('list shows them', async () => {
    const { url } = await playAnswers(json(200, { views: [VIEW] }));
    const { stdout } = await run(['views', '--url', url]);
    expect(stdout).toMatch(/NAME +SCREEN +AGE +SAVED BY +SEARCH\non-call +jobs .*q=owner:billing/);
  });

  test('save and remove send what was typed', async () => {
    const { url, seen } = await playAnswers(json(200, VIEW), (response) => {
      response.writeHead(204).end();
    });
    const saved = await run(['views', 'save', 'on call', 'status:failed', 'x', '--url', url]);
    expect([saved.code, saved.stdout]).toEqual([0, 'on-call\n']);
    expect((await run(['views', 'remove', 'on call', '--url', url])).stdout).toBe('on call\n');
    expect(seen).toMatchObject([
      {
        method: 'PUT',
        url: '/v1/views/on%20call',
        body: { screen: 'jobs', query: 'q=status%3Afailed+x' },
      },
      { method: 'DELETE', url: '/v1/views/on%20call' },
    ]);
  });
});

describe('export', () => {
  const file = (text: string) => (response: ServerResponse) => void response.end(text);

  test('writes to stdout, and says where to go on', async () => {
    const text = `jobId,status\r\n${ID},failed\r\n`;
    const { url, seen } = await playAnswers(file(text));
    const args = ['export', 'status:failed', '--limit', '1', '--url', url];
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([0, text]);
    expect(stderr).toBe(`1 job.\nThe limit is reached. There may be more: --after ${ID}\n`);
    const asked = new URL(seen[0]?.url ?? '', url);
    expect(`${asked.pathname}?${asked.searchParams.toString()}`).toBe(
      '/v1/jobs/export?format=csv&limit=1&q=status%3Afailed',
    );
  });

  test('writes a file, whose name says the format', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'longshore-export-'));
    onTestFinished(async () => await rm(folder, { recursive: true }));
    const text = `{"jobId":"${ID}"}\n`;
    const { url, seen } = await playAnswers(file(text));
    const output = join(folder, 'jobs.jsonl');
    const { stdout, stderr } = await run(['export', '--output', output, '--url', url]);
    expect([stdout, stderr]).toEqual(['', '1 job.\n']);
    expect(await readFile(output, 'utf8')).toBe(text);
    expect(seen[0]?.url).toContain('format=jsonl');
  });
});
