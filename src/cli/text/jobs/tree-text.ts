import type { RelatedJob } from '../../../core/dependency/related.ts';

/** A job with its children and the jobs after it. */
export interface TreeNode extends RelatedJob {
  /** Of many children, only some that failed. */
  children: TreeNode[];
  /** Set if it has many children. */
  counts: ChildCounts | null;
  followers: TreeNode[];
  /** Not all of its children and followers are here. */
  more: boolean;
}

export interface ChildCounts {
  total: number;
  open: number;
  succeeded: number;
  failed: number;
  cancelled: number;
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

interface Branch {
  text: string;
  node?: TreeNode;
}

/** What runs after a job with many children is above them: it is what a caller looks for. */
function branchesOf({ children, followers, counts, more }: TreeNode): Branch[] {
  const below = children.map((node) => ({ text: `child ${lineOf(node)}`, node }));
  const after = followers.map((node) => ({ text: lineOf(node), node }));
  const rest = more && below.length + after.length > 0 ? [{ text: '… more' }] : [];
  if (counts === null) return [...below, ...after, ...rest];
  const unseen = counts.failed - children.length;
  const failed = unseen > 0 ? [{ text: `… ${unseen} more failed` }] : [];
  return [...after, ...rest, { text: countsText(counts) }, ...below, ...failed];
}

function countsText({ total, open, succeeded, failed, cancelled }: ChildCounts): string {
  return `${total} children: ${open} open, ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled`;
}

function linesBelow(job: TreeNode, indent: string): string[] {
  const branches = branchesOf(job);
  return branches.flatMap(({ text, node }, index) => {
    const last = index === branches.length - 1;
    return [
      `${indent}${last ? '└─' : '├─'} ${text}`,
      ...(node ? linesBelow(node, `${indent}${last ? '  ' : '│ '} `) : []),
    ];
  });
}

function lineOf({ jobId, definitionKey, status }: RelatedJob): string {
  return [jobId, status ?? 'unknown', definitionKey ?? '(deleted)'].join('  ');
}
