import { expect, it } from 'vitest';
import { madeWorker } from '../made.fixture.ts';
import { notLoadedFiles } from './not-loaded.ts';

it('lists each file once, with its workers', () => {
  const bad = 'jobs/bad.ts: Error: boom';
  const workers = [
    madeWorker({ pid: 7, notLoaded: [bad, 'jobs/none.ts: exports no job'] }),
    madeWorker({ pid: 8, notLoaded: [bad] }),
    madeWorker({ pid: 9 }),
  ];
  expect(notLoadedFiles(workers)).toEqual([
    { subject: 'jobs/bad.ts', reason: 'Error: boom', where: 'Workers box (pid 7), box (pid 8)' },
    { subject: 'jobs/none.ts', reason: 'exports no job', where: 'Worker box (pid 7)' },
  ]);
});
