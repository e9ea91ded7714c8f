import { expect, test } from 'vitest';
import { ago, madeJob, NOW } from '../made.fixture.ts';
import { remark, summary, timing } from './job-words.ts';

const boom = { code: 'HANDLER_ERROR', message: 'boom\nand more', stack: null, cause: null };

test.each([
  [{ status: 'created' }, 'held'],
  [{ status: 'retrying', runAt: ago(-90) }, 'in 1m30s'],
  [{ status: 'queued', queuedAt: ago(0.3) }, 'waiting 0 s'],
  [{ status: 'running', startedAt: ago(12.6) }, 'for 12 s'],
  [{ status: 'succeeded', startedAt: ago(2), finishedAt: ago(0.8) }, 'took 1.2 s'],
  [{ status: 'cancelled' }, 'never ran'],
  [{ status: 'suspended', waitsFor: { jobs: 'batch' } }, 'until it is closed'],
  [{ status: 'suspended', waitsFor: { jobs: 'children' } }, 'until its children have ended'],
] as const)('the time of %j is "%s"', (job, words) => {
  expect(timing(madeJob(job), NOW)).toBe(words);
});

test.each([
  [{ status: 'failed', error: boom }, 'HANDLER_ERROR boom'],
  [{ status: 'running', error: boom }, ''],
  [{ status: 'running', progress: { fraction: 0.416, message: 'page 4' } }, '41 % · page 4'],
  [{ warnings: [{ code: 'UNSERVED', since: null }] }, 'No worker has this definition.'],
  [{ warnings: [{ code: 'UNLOADABLE', since: null }] }, 'Its code cannot be loaded.'],
  [{ status: 'succeeded' }, ''],
] as const)('beside %j stands "%s"', (job, words) => {
  expect(remark(madeJob(job as never))).toBe(words);
});

test('params are shortened', () => {
  expect(summary({ params: {} })).toBe('');
  expect(summary({ params: { a: 1 } })).toBe('{"a":1}');
  expect(summary({ params: 'x'.repeat(500) })).toHaveLength(121);
  expect(summary({ params: null, largeParams: { bytes: 204_800 } })).toBe('200 KiB of JSON');
});
