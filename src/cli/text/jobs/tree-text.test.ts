import { expect, it } from 'vitest';
import { treeLines, type TreeNode } from './tree-text.ts';

const node = (jobId: string, followers: TreeNode[] = [], more = false): TreeNode => {
  return { jobId, definitionKey: 'k', status: 'queued', followers, more };
};

it('draws parents above the job and followers below it', () => {
  const gone = { jobId: 'p', definitionKey: null, status: 'failed' } as const;
  const job = node('a', [node('b', [node('c')]), node('d', [node('e')], true)]);
  expect(treeLines([gone], job)).toEqual([
    'after p  failed  (deleted)',
    'a  queued  k',
    '├─ b  queued  k',
    '│  └─ c  queued  k',
    '└─ d  queued  k',
    '   ├─ e  queued  k',
    '   └─ … more',
  ]);
});
