import { expect, it } from 'vitest';
import { batchOf } from './batch-of.ts';

const job = { jobId: 'j', definitionKey: 'mail' };
const batch = { jobId: 'b', definitionKey: '$batch', status: 'suspended' } as const;
const other = { jobId: 'o', definitionKey: 'mail', status: 'running' } as const;

it.each([
  ['a batch itself', { jobId: 'b', definitionKey: '$batch' }, undefined, 'View batch'],
  ['a job of a batch', job, { spawnedBy: batch, parents: [] }, 'Job of a batch'],
  ['a callback', job, { spawnedBy: null, parents: [other, batch] }, 'Runs after a batch'],
] as const)('%s leads to the batch', (_, of, related, words) => {
  const known = related && { ...related, parents: [...related.parents] };
  expect(batchOf(of, known)).toEqual({ batchId: 'b', words });
});

it('other jobs have none', () => {
  expect(batchOf(job, undefined)).toBeNull();
  expect(batchOf(job, { spawnedBy: other, parents: [other] })).toBeNull();
});
