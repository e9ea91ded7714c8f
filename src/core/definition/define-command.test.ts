import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand } from './define-command.ts';
import { isJobDefinition, type JobDefinition } from './define.ts';

/** JavaScript callers can pass anything, so the refusals are tested past the type checker. */
const define = (options: object): JobDefinition => defineCommand(options as never);

it('is a definition with a program instead of a function', () => {
  const report = defineCommand({
    key: 'report',
    command: ['python3', 'report.py', '--fast'],
    params: z.object({ month: z.string() }),
    timeoutSeconds: 5,
    memoryMb: 128,
  });
  expect(isJobDefinition(report)).toBe(true);
  expect(report.info).toMatchObject({
    key: 'report',
    timeoutMs: 5_000,
    memoryMb: 128,
    command: { argv: ['python3', 'report.py', '--fast'], cwd: null },
    paramsSchema: { type: 'object' },
  });
  expect(() => report.run(null as never, null as never)).toThrow('in a worker');
});

it('may have hooks, which are functions', () => {
  const onFail = () => undefined;
  expect(define({ key: 'a', command: ['true'], onFail }).info.hooks).toEqual(['onFail']);
});

it.each([
  [{ command: [] }, 'a: command must be a list of texts'],
  [{ command: 'rm -rf' }, 'a: command must be a list of texts'],
  [{ command: ['echo', 5] }, 'a: command must be a list of texts'],
  [{ command: ['echo', 'a\u0000b'] }, 'a: command must be a list of texts'],
  [{ command: ['true'], cwd: 5 }, 'a: cwd must be a path'],
  [{ command: ['true'], comand: [] }, 'unknown option of defineCommand "comand"'],
  [{ command: ['true'], onStart: () => null }, 'unknown option of defineCommand "onStart"'],
  [{ command: ['true'], isolation: 'inline' }, 'unknown option of defineCommand "isolation"'],
  [{ command: ['true'], params: 5 }, 'a: params must be a Standard Schema'],
])('refuses %j', (options, words) => {
  expect(() => define({ key: 'a', ...options })).toThrow(words);
});
