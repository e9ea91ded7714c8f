import { invariant } from '../../invariant.ts';

/**
 * Servers survive every fault that does not kill them, from their first moment on: one that starts
 * while the database is away waits for it. The worker process of a `longshore start` is that server's
 * own affair.
 */
export const steadyProcesses = invariant(
  'P1',
  'No server ends by itself: each end was asked for, or was a kill.',
  function* ({ history, faults }) {
    const killed = new Set(faults.windows.flatMap(({ pids }) => pids));
    for (const { what, parent } of history.effects) if (what === 'kill-worker') killed.add(parent);
    const stopAt = history.phases.find(({ name }) => name === 'stop')?.at;
    const up = new Set<number>();
    for (const { slot, pid, phase, at, code, signal, parent } of history.processes) {
      if (phase === 'up') up.add(pid);
      if (phase !== 'exit' || parent !== undefined) continue;
      const when = up.delete(pid) ? '' : ' while it started';
      if (killed.has(pid)) continue;
      if (stopAt !== undefined && at >= stopAt) continue;
      yield {
        text: `${slot} (pid ${pid}) ended by itself${when}: ${signal ?? `exit code ${code}`}`,
      };
    }
  },
);
