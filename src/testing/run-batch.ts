import type { InputOf, ResultOf } from '../client/job.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import { RunnerGroup } from '../worker/runners/runner-group.ts';
import { type JobRun, runnerOf, runOn, type RunOptions } from './run-job.ts';

/** Options for all jobs of the group, or a function that gives those of each. */
export type BatchRunOptions = RunOptions | ((index: number) => RunOptions);

const ZEROS = '00000000-0000-7000-8000-';

/**
 * Runs a group of jobs of `defineBatchJob` here, in one call, as a worker would: each with its own
 * outcome. `size` and `waitMs` do not matter.
 */
export async function runBatch<Definition extends JobDefinition>(
  definition: Definition,
  params: readonly InputOf<Definition>[],
  options: BatchRunOptions = {},
): Promise<JobRun<ResultOf<Definition>>[]> {
  if (!definition.info.group) {
    throw new TypeError(`${definition.key} is not made by defineBatchJob: use runJob`);
  }
  if (params.length === 0) throw new TypeError('a group has at least one job');
  const group = new RunnerGroup(runnerOf(definition), params.length, () => undefined);
  const runs = params.map(async (one, index) => {
    const jobId = `${ZEROS}${String(index).padStart(12, '0')}`;
    const own = typeof options === 'function' ? options(index) : options;
    const member = group.members[index];
    if (!member) throw new Error('each job of a group has a runner');
    return await runOn(definition, member, one, { jobId, ...own });
  });
  return (await Promise.all(runs)) as JobRun<ResultOf<Definition>>[];
}
