import { expect, it } from 'vitest';
import { definitionInfo } from '../../core/definition/check-definition.ts';
import { definitionAnswer, DefinitionAnswer } from './definition-answer.ts';

it('tells a definition as it was written, with all the fields the docs promise', () => {
  const info = definitionInfo(
    { key: 'a', timeoutSeconds: 1.5, retry: 'cleanup' },
    { paramsSchema: null },
  );
  const answer = definitionAnswer({ ...info, publishedAt: '2030-01-01T00:00:00.000Z' });
  expect(DefinitionAnswer.parse(answer)).toMatchObject({
    timeoutSeconds: 1.5,
    maxAttempts: 2,
    retry: { delaysMs: [300_000, 900_000], jitter: 0.1 },
    paramsSchema: null,
    paramsShape: 1,
    group: null,
  });
  expect(Object.keys(answer)).toEqual(Object.keys(DefinitionAnswer.shape));
});

it('tells what a program is, and not where on the disk of its worker', () => {
  const command = { argv: ['python3', 'report.py'], cwd: '/srv/jobs' };
  const info = definitionInfo(
    { key: 'a', memoryMb: 256 },
    { paramsSchema: null, hooks: ['onEnd'], command },
  );
  const answer = definitionAnswer({ ...info, publishedAt: '2030-01-01T00:00:00.000Z' });
  expect(DefinitionAnswer.parse(answer)).toMatchObject({
    memoryMb: 256,
    hooks: ['onEnd'],
    command: ['python3', 'report.py'],
  });
});

it('tells what an earlier release has published', () => {
  const {
    memoryMb: _,
    hooks: __,
    command: ___,
    description: ____,
    runbookUrl: _____,
    ...info
  } = definitionInfo({ key: 'a' }, { paramsSchema: null });
  const answer = definitionAnswer({ ...info, publishedAt: '2030-01-01T00:00:00.000Z' });
  expect(DefinitionAnswer.parse(answer)).toMatchObject({
    memoryMb: null,
    hooks: [],
    command: null,
    description: null,
    runbookUrl: null,
  });
});

it('rejects unsafe runbook URLs of a worker', () => {
  const info = definitionInfo({ key: 'a' }, { paramsSchema: null });
  const publishedAt = '2030-01-01T00:00:00.000Z';
  const answer = definitionAnswer({ ...info, publishedAt, runbookUrl: 'javascript:alert(1)' });
  expect(answer.runbookUrl).toBeNull();
});
