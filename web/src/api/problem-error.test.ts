import { expect, it } from 'vitest';
import { errorText, ProblemError } from './problem-error.ts';

it.each([
  ['no such job', 'No such job.'],
  ['unknown field "a": did you mean "b"?', 'Unknown field "a": did you mean "b"?'],
  ['it ended.', 'It ended.'],
])('%s is shown as a sentence', (detail, sentence) => {
  expect(errorText(new ProblemError(400, 'VALIDATION_FAILED', detail))).toBe(sentence);
});
