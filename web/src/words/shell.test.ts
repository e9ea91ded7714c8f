import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { madeJob } from './made.fixture.ts';
import { cliFor, curlFor, replayFor, shellWord } from './shell.ts';

const LOCAL = { address: 'http://127.0.0.1:4400', tenant: null };
const HOSTILE = `it's "$(touch /tmp/x)" \`id\` \\ !! * \n ;&`;

/** A real shell says what it understood. */
const understood = (command: string) =>
  execFileSync('/bin/sh', [
    '-c',
    `curl() { printf '%s\\0' "$@"; }; npx() { shift; curl "$@"; }; ${command}`,
  ])
    .toString()
    .split('\0');

test.each([HOSTILE, '', "'", 'plain', 'a b', '-x', '~', '#'])(
  'a shell gets %j as it is',
  (text) => {
    expect(understood(`curl ${shellWord(text)}`)[0]).toBe(text);
  },
);

test('a job becomes the command that starts it again', () => {
  const job = madeJob({ params: { text: HOSTILE }, tags: ['x'], priority: 5 });
  const words = understood(curlFor(job, LOCAL));
  expect(words[1]).toBe('http://127.0.0.1:4400/v1/jobs');
  expect(JSON.parse(words[5] ?? '')).toEqual({
    definitionKey: 'hello',
    definitionVersion: 1,
    params: { text: HOSTILE },
    priority: 5,
    tags: ['x'],
  });
  const undecided = understood(curlFor(madeJob({ definitionVersion: 0 }), LOCAL));
  expect(JSON.parse(undecided[5] ?? '')).not.toHaveProperty('definitionVersion');
  const [verb, key, params, ...more] = understood(
    cliFor(job, { ...LOCAL, address: 'http://jobs.internal' }),
  );
  expect([verb, key, JSON.parse(params ?? '')]).toEqual(['enqueue', 'hello', job.params]);
  expect(more).toEqual(['--url', 'http://jobs.internal', '']);
});

test('a command of a page of another tenant names the tenant', () => {
  const job = madeJob({ tenant: 'acme' });
  const to = { ...LOCAL, tenant: 'acme' };
  expect(understood(curlFor(job, to))[1]).toBe('http://127.0.0.1:4400/v1/jobs?tenant=acme');
  expect(understood(cliFor(job, to)).slice(3)).toEqual(['--tenant', 'acme', '']);
  expect(replayFor(job, to, null)).toBe(
    `npx longshore replay ${job.jobId} --jobs ./jobs --tenant acme`,
  );
  expect(replayFor(job, LOCAL, 'examples/jobs')).toBe(
    `npx longshore replay ${job.jobId} --jobs examples/jobs`,
  );
});
