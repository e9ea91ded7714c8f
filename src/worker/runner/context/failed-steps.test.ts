import { expect, test } from 'vitest';
import { failureFrom, rememberStep } from './failed-steps.ts';

const stepOf = (error: unknown) => failureFrom(error, 0).error.step?.name;

function failedIn(name: string, error: unknown = new Error('no room')): unknown {
  rememberStep(error, name, performance.now());
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
  rememberStep(error, 'outer', 0);
  expect(stepOf(error)).toBe('inner');
});

test('its times are whole milliseconds', () => {
  const { step } = failureFrom(failedIn('render'), 0).error;
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
