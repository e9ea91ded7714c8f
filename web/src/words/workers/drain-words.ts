import type { WorkerView } from '../../../../src/core/queue/worker.ts';

/** What happens when a worker is drained, one step per line. */
export function drainSteps({ busy }: Pick<WorkerView, 'busy'>): string[] {
  const waits = `for at most LONGSHORE_DRAIN_MS of that worker, 30 seconds by default.`;
  return [
    'It claims no more jobs, from its next heartbeat.',
    ...(busy === 0
      ? ['It runs no job now, so it exits at once.']
      : [
          `It waits for ${busy === 1 ? 'its running job' : `its ${busy} running jobs`} to finish, ${waits}`,
          'Jobs that still run then are stopped and go back to their queue. They lose no attempt, and start again on another worker.',
          'It exits.',
        ]),
    'A worker of longshore start is replaced by a new one. Any other stays off until you start it.',
  ];
}
