import type { RelatedJob } from '../../../core/dependency/related.ts';

/** A job with its children and the jobs after it. */
export interface TreeNode extends RelatedJob {
  children: TreeNode[];
  followers: TreeNode[];
  /** Not all of its children and followers are here. */
  more: boolean;
}

/** The parents of the job, and the job that has spawned it, above it; its children and followers below. */
export function treeLines(
  parents: readonly RelatedJob[],
  spawnedBy: RelatedJob | null,
  job: TreeNode,
): string[] {
  return [
    ...parents.map((parent) => `after ${lineOf(parent)}`),
    ...(spawnedBy === null ? [] : [`child of ${lineOf(spawnedBy)}`]),
    lineOf(job),
    ...linesBelow(job, ''),
  ];
}

function linesBelow({ children, followers, more }: TreeNode, indent: string): string[] {
  const nodes = [
    ...children.map((node) => ({ node, kind: 'child ' })),
    ...followers.map((node) => ({ node, kind: '' })),
  ];
  const lines = nodes.flatMap(({ node, kind }, index) => {
    const last = index === nodes.length - 1 && !more;
    return [
      `${indent}${last ? '└─' : '├─'} ${kind}${lineOf(node)}`,
      ...linesBelow(node, `${indent}${last ? '  ' : '│ '} `),
    ];
  });
  return more && nodes.length > 0 ? [...lines, `${indent}└─ … more`] : lines;
}

function lineOf({ jobId, definitionKey, status }: RelatedJob): string {
  return [jobId, status ?? 'unknown', definitionKey ?? '(deleted)'].join('  ');
}
