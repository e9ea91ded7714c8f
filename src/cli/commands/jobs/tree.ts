import type { Command } from 'commander';
import type { Longshore, RelatedJob } from '../../../client/index.ts';
import type { Cli } from '../../cli.ts';
import { findJobId } from '../../options/find-id.ts';
import { whole } from '../../options/option-values.ts';
import { clientOf, outputOf } from '../../session.ts';
import { treeLines, type TreeNode } from '../../text/jobs/tree-text.ts';

const DEPTH = 10;
/** Each job is one request. */
const JOBS_MAX = 200;
/** More children are counted. */
const CHILDREN_SHOWN = 10;

export function addTree(program: Command, cli: Cli): void {
  program
    .command('tree')
    .summary('show what a job waits for, and what waits for it')
    .description(
      'Show the parents of a job, and below it its children and the jobs that were enqueued after it.',
    )
    .argument('<id>', 'the id of the job')
    .option('--depth <number>', `how many levels of jobs below it; default ${DEPTH}`, whole)
    .action(async (typed: string, { depth = DEPTH }: { depth?: number }, command: Command) => {
      const out = outputOf(cli, command);
      const client = clientOf(cli, command);
      const id = await findJobId(client, typed);
      const { status, definitionKey } = await client.get(id);
      const { parents, spawnedBy } = await client.related(id);
      const room = { left: JOBS_MAX };
      const job = await below(client, { jobId: id, status, definitionKey }, depth, room);
      if (out.json) out.document({ parents, spawnedBy, job });
      else out.lines(treeLines(parents, spawnedBy, job));
    });
}

/**
 * A job that has several parents is below each of them. Of many children only those that failed are
 * named, and nothing is asked of them.
 */
async function below(
  client: Longshore,
  job: RelatedJob,
  depth: number,
  room: { left: number },
): Promise<TreeNode> {
  room.left -= 1;
  const node: TreeNode = leaf(job, true);
  if (depth <= 0 || room.left < 0) return node;
  const { followers, moreFollowers: more, ...family } = await client.related(job.jobId);
  const { childrenTotal: total, childrenOpen: open, childrenEnded } = family;
  const isMany = total > CHILDREN_SHOWN;
  for (const child of isMany ? [] : family.children) {
    node.children.push(await below(client, child, depth - 1, room));
  }
  for (const follower of followers) {
    node.followers.push(await below(client, follower, depth - 1, room));
  }
  if (!isMany) return { ...node, more };
  const children = family.failedChildren.map((child) => leaf(child, false));
  return { ...node, children, counts: { total, open, ...childrenEnded }, more };
}

function leaf(job: RelatedJob, more: boolean): TreeNode {
  return { ...job, children: [], counts: null, followers: [], more };
}
