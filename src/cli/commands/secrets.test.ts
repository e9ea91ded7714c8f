import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run } from '../../../test/support/cli.ts';
import {
  json,
  playAnswers,
  playBeside,
  problem,
} from '../../../test/support/servers/playing-server.ts';

const SECRET = {
  name: 'TOKEN',
  definitionKey: 'report',
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
  updatedBy: 'key:1f0c528d0e4f0b9a',
};

/** Only a worker's definition is named without a warning. */
const KNOWN = { '/v1/definitions': json(200, { definitions: [{ key: 'report' }] }) };

test('the value comes from stdin or a file, and is never printed', async () => {
  const { url, seen } = await playBeside(KNOWN, json(200, SECRET), json(200, SECRET));
  const set = ['secrets', 'set', 'TOKEN', '--url', url];
  const piped = await run([...set, '--definition', 'report'], { stdin: 'piped-value\n' });
  expect(piped).toMatchObject({ code: 0, stdout: 'TOKEN\n', stderr: '' });

  const folder = await mkdtemp(join(tmpdir(), 'longshore-secret-'));
  onTestFinished(async () => await rm(folder, { recursive: true }));
  const file = join(folder, 'value');
  await writeFile(file, 'two\nlines\n\n');
  const short = await run([...set, '--from-file', file, '--json']);
  expect(JSON.parse(short.stdout)).toEqual(SECRET);
  expect(seen.map(({ method, url: path, body }) => [method, path, body])).toEqual([
    ['PUT', '/v1/secrets/TOKEN', { value: 'piped-value', definitionKey: 'report' }],
    ['PUT', '/v1/secrets/TOKEN', { value: 'two\nlines\n' }],
  ]);
});

test('a short value gets a warning, an empty one and an argument are refused', async () => {
  const { url } = await playAnswers(json(200, SECRET));
  const set = ['secrets', 'set', 'TOKEN', '--url', url];
  expect((await run(set, { stdin: 'short' })).stderr).toContain('not masked');
  const empty = await run(set, { stdin: '\n' });
  expect([empty.code, empty.stderr]).toEqual([2, 'error: the value is empty\n']);
  expect((await run([...set, 'value'], { stdin: 'x' })).code).toBe(2);
  expect((await run([...set, '--from-file', '/nowhere/x'])).code).toBe(2);
});

test('a definition that no worker has gets a warning with the nearest name', async () => {
  const { url } = await playBeside(KNOWN, json(200, SECRET));
  const set = ['secrets', 'set', 'TOKEN', '--definition', 'reprot', '--url', url];
  const { code, stderr } = await run(set, { stdin: 'long-enough' });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: 'warning: unknown definition "reprot": did you mean "report"?\n',
  });
});

test('lists and removes', async () => {
  const all = { ...SECRET, name: 'OTHER', definitionKey: null };
  const { url, seen } = await playBeside(
    KNOWN,
    json(200, { secrets: [all, SECRET] }),
    json(200, { secrets: [] }),
    json(204, null),
    problem(404, 'NOT_FOUND'),
  );
  const env = { LONGSHORE_URL: url };
  const listed = await run(['secrets'], { env });
  expect(listed.stdout).toMatch(/NAME +DEFINITION +AGE +SET BY\nOTHER +\* +1m.*\nTOKEN +report/);
  const none = await run(['secrets', 'list', '--definition', 'report'], { env });
  expect(none.stderr).toBe('No secrets.\n');
  const remove = ['secrets', 'remove', 'TOKEN'];
  expect((await run([...remove, '--definition', 'report'], { env })).stdout).toBe('TOKEN\n');
  expect((await run(remove, { env })).code).toBe(3);
  expect(seen.map(({ method, url: path }) => [method, path])).toEqual([
    ['GET', '/v1/secrets'],
    ['GET', '/v1/secrets?definitionKey=report'],
    ['DELETE', '/v1/secrets/TOKEN?definitionKey=report'],
    ['DELETE', '/v1/secrets/TOKEN'],
  ]);
});
