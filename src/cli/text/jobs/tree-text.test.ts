import { expect, it } from 'vitest';
import { treeLines, type TreeNode } from './tree-text.ts';

const node = (jobId: string, followers: TreeNode[] = [], more = false): TreeNode => {
  const job = { jobId, definitionKey: 'k', status: 'queued' } as const;
  return { ...job, children: [], counts: null, followers, more };
};

it('draws children before followers, and the job that has spawned it above', () => {
  const job = { ...node('a', [node('b')]), children: [node('c'), node('d')] };
  expect(treeLines([], node('z'), job)).toEqual([
    'child of z  queued  k',
    'a  queued  k',
    '├─ child c  queued  k',
    '├─ child d  queued  k',
    '└─ b  queued  k',
  ]);
});

it('draws parents above the job and followers below it', () => {
  const gone = { jobId: 'p', definitionKey: null, status: 'failed' } as const;
  const job = node('a', [node('b', [node('c')]), node('d', [node('e')], true)]);
  expect(treeLines([gone], null, job)).toEqual([
    'after p  failed  (deleted)',
    'a  queued  k',
    '├─ b  queued  k',
    '│  └─ c  queued  k',
    '└─ d  queued  k',
    '   ├─ e  queued  k',
    '   └─ … more',
  ]);
});

it('counts many children, below what runs after them, and names those that failed', () => {
  const counts = { total: 100, open: 3, succeeded: 94, failed: 2, cancelled: 1 };
  const failed = { ...node('c'), status: 'failed' } as const;
  const job = { ...node('a', [node('b')]), counts, children: [failed] };
  expect(treeLines([], null, job)).toEqual([
    'a  queued  k',
    '├─ b  queued  k',
    '├─ 100 children: 3 open, 94 succeeded, 2 failed, 1 cancelled',
    '├─ child c  failed  k',
    '└─ … 1 more failed',
  ]);
  const well = { ...node('a'), counts: { ...counts, failed: 0 } };
  expect(treeLines([], null, well).slice(1)).toEqual([
    '└─ 100 children: 3 open, 94 succeeded, 0 failed, 1 cancelled',
  ]);
});
