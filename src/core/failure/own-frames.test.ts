import { expect, test } from 'vitest';
import { foldedFrames } from './own-frames.ts';

const OWN = '    at run (file:///app/jobs/a.ts:3:9)';
const LIBRARY = '    at query (/app/node_modules/pg/client.js:1:1)';
const NODE = '    at process.processTicksAndRejections (node:internal/process/task_queues:1:1)';

test('frames of libraries become their number', () => {
  const stack = ['Error: x', LIBRARY, OWN, LIBRARY, NODE].join('\n');
  expect(foldedFrames(stack)).toEqual(['    … 1 library frame', OWN, '    … 2 library frames']);
});

test('a stack without own frames is shown whole', () => {
  expect(foldedFrames(['Error: x', LIBRARY, NODE].join('\n'))).toEqual([LIBRARY, NODE]);
  expect(foldedFrames('')).toEqual([]);
});
