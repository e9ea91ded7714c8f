import { expect, it } from 'vitest';
import { definitionInfo } from '../core/definition.ts';
import { definitionAnswer, DefinitionAnswer } from './definition-answer.ts';

it('tells a definition as it was written, with all the fields the docs promise', () => {
  const info = definitionInfo({ key: 'a', timeoutSeconds: 1.5, retry: 'cleanup' }, undefined);
  const answer = definitionAnswer({ ...info, publishedAt: '2030-01-01T00:00:00.000Z' });
  expect(DefinitionAnswer.parse(answer)).toMatchObject({
    timeoutSeconds: 1.5,
    maxAttempts: 2,
    retry: { delaysMs: [300_000, 900_000], jitter: 0.1 },
    paramsSchema: null,
  });
  expect(Object.keys(answer)).toEqual(Object.keys(DefinitionAnswer.shape));
});
