import { expect, it } from 'vitest';
import { treeLines, type TreeNode } from './tree-text.ts';

const node = (jobId: string, followers: TreeNode[] = [], more = false): TreeNode => {
  return { jobId, definitionKey: 'k', status: 'queued', children: [], followers, more };
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
