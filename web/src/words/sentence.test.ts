import { expect, it } from 'vitest';
import { sentenceOf } from './sentence.ts';

it.each([
  ['no such job', 'No such job.'],
  ['unknown field "a": did you mean "b"?', 'Unknown field "a": did you mean "b"?'],
  ['it ended.', 'It ended.'],
])('%s is shown as a sentence', (text, sentence) => {
  expect(sentenceOf(text)).toBe(sentence);
});
