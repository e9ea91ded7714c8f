import type { RelatedJob } from '../../../core/dependency/related.ts';

/** A job with the jobs after it. */
export interface TreeNode extends RelatedJob {
  followers: TreeNode[];
  /** Not all of its followers are here. */
  more: boolean;
}

/** The parents above the job, its followers below it. */
export function treeLines(parents: readonly RelatedJob[], job: TreeNode): string[] {
  return [
    ...parents.map((parent) => `after ${lineOf(parent)}`),
    lineOf(job),
    ...followerLines(job, ''),
  ];
}

function followerLines({ followers, more }: TreeNode, indent: string): string[] {
  const lines = followers.flatMap((node, index) => {
    const last = index === followers.length - 1 && !more;
    return [
      `${indent}${last ? '└─' : '├─'} ${lineOf(node)}`,
      ...followerLines(node, `${indent}${last ? '  ' : '│ '} `),
    ];
  });
  return more && followers.length > 0 ? [...lines, `${indent}└─ … more`] : lines;
}

function lineOf({ jobId, definitionKey, status }: RelatedJob): string {
  return [jobId, status ?? 'unknown', definitionKey ?? '(deleted)'].join('  ');
}
