import { JOB_STATES } from '../../core/job/job.ts';
import { readSeen } from '../../client/problems/seen.ts';
import { closed } from '../../protocol/fields.ts';
import { tool } from '../tool.ts';
import { facts } from '../text/facts.ts';
import { describeProblems } from './problems.ts';

const PROBLEMS_SHOWN = 25;

export const overview = tool({
  name: 'overview',
  title: 'Overview',
  description:
    'The state of the whole server: a verdict, each problem with its cause, owner, next step and ' +
    'the job, error group or schedule it is about, and the numbers of jobs and workers. Problems ' +
    'are failures of the last 24 hours, stuck and waiting jobs, pauses, lost workers, schedules ' +
    'and alerts. Start here for "is everything all right?".',
  scope: 'jobs:read',
  effect: 'reads',
  idempotent: true,
  input: closed({}),
  run: async (_, { client, now }) => {
    const seen = await readSeen(client, now());
    const problems = describeProblems(seen, now());
    const live = seen.workers.filter(({ status }) => status !== 'dead');
    const busy = live.reduce((sum, one) => sum + one.busy, 0);
    const slots = live.reduce((sum, worker) => sum + worker.slots, 0);
    const { totals } = seen.stats;
    const counts = JOB_STATES.filter((state) => totals[state] > 0).map((state) => {
      return [state, totals[state]] as const;
    });
    return facts({
      verdict:
        problems.length === 0 ? 'No problems.' : `Problems: ${problems.length}, the worst first.`,
      problems: problems.slice(0, PROBLEMS_SHOWN),
      more:
        problems.length > PROBLEMS_SHOWN
          ? `${problems.length - PROBLEMS_SHOWN} more problems are not shown.`
          : null,
      jobs: counts.length === 0 ? 'none' : Object.fromEntries(counts),
      workers: `${live.length} live with ${slots} slots, ${busy} busy`,
      definitions: new Set(seen.definitions.map(({ key }) => key)).size,
    });
  },
});
