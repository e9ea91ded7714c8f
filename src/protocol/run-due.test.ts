import { describe, expect, it } from 'vitest';
import { Refusal } from './refusal.ts';
import { parseRunDue } from './run-due.ts';

function refusal(body: unknown) {
  try {
    return parseRunDue(body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [error.code, ...(error.errors ?? []).map(({ pointer }) => pointer)];
  }
}

describe('the body of a run', () => {
  it.each([
    [undefined, { max: 100, seconds: 50 }],
    [null, { max: 100, seconds: 50 }],
    [{}, { max: 100, seconds: 50 }],
    [{ max: 1 }, { max: 1, seconds: 50 }],
    [{ seconds: 0 }, { max: 100, seconds: 0 }],
    [
      { max: 1_000_000, seconds: 240 },
      { max: 1_000_000, seconds: 240 },
    ],
    [{ seconds: 1.5 }, { max: 100, seconds: 1.5 }],
  ])('%j is read as %j', (body, budget) => expect(parseRunDue(body)).toEqual(budget));

  it.each([
    [{ max: 0 }, '/max'],
    [{ max: 1.5 }, '/max'],
    [{ max: '5' }, '/max'],
    [{ max: 1_000_001 }, '/max'],
    [{ seconds: -1 }, '/seconds'],
    [{ seconds: 240.5 }, '/seconds'],
    [{ seconds: null }, '/seconds'],
    [{ second: 5 }, '/second'],
    [[], ''],
    ['run', ''],
  ])('%j is refused at %j', (body, pointer) => {
    expect(refusal(body)).toEqual(['VALIDATION_FAILED', pointer]);
  });

  it('says what is right, and what was meant', () => {
    expect(() => parseRunDue({ seconds: 600 })).toThrow('/seconds: must be a number from 0 to 240');
    expect(() => parseRunDue({ second: 5 })).toThrow('did you mean "seconds"?');
  });
});
