import { expect, test } from 'vitest';
import type { RunCommand } from '../../ipc.ts';
import { failureFrom, rememberStep } from './failed-steps.ts';

const job = { id: 'a job' } as RunCommand;
const stepOf = (error: unknown, of = job) => failureFrom(of, error, 0).error.step?.name;

function failedIn(name: string, error: unknown = new Error('no room'), of = job): unknown {
  rememberStep(of, error, name, performance.now());
  return error;
}

test('a failure names the step that its error came from', () => {
  const error = failedIn('render');
  expect(stepOf(error)).toBe('render');
  expect(stepOf(new Error('outer', { cause: new Error('inner', { cause: error }) }))).toBe(
    'render',
  );
  expect(stepOf(new Error('another'))).toBeUndefined();
});

test('the innermost step counts', () => {
  const error = failedIn('inner');
  rememberStep(job, error, 'outer', 0);
  expect(stepOf(error)).toBe('inner');
});

test('another job that throws the same error has steps of its own, or none', () => {
  const kept = failedIn('render');
  const other = { id: 'another job' } as RunCommand;
  expect(stepOf(kept, other)).toBeUndefined();
  failedIn('send', kept, other);
  expect([stepOf(kept), stepOf(kept, other)]).toEqual(['render', 'send']);
});

test('its times are whole milliseconds', () => {
  const { step } = failureFrom(job, failedIn('render'), 0).error;
  expect(
    Object.values(step ?? {})
      .slice(1)
      .every(Number.isInteger),
  ).toBe(true);
});

test('any value may be thrown', () => {
  const hostile = Object.defineProperty({}, 'cause', {
    get() {
      throw new Error('no');
    },
  });
  for (const thrown of ['text', null, undefined, hostile]) {
    expect(stepOf(thrown)).toBeUndefined();
  }
  expect(stepOf(failedIn('text', 'text'))).toBeUndefined();
});
