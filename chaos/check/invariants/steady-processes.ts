import { invariant } from '../invariant.ts';

/**
 * Servers survive every fault that does not kill them. One that starts while the database is away
 * may refuse, so only those that had been up are judged.
 */
export const steadyProcesses = invariant(
  'P1',
  'No server ends by itself: each end was asked for, or was a kill.',
  function* ({ history, faults }) {
    const killed = new Set(faults.windows.flatMap(({ pids }) => pids));
    for (const { what, parent } of history.effects) if (what === 'kill-worker') killed.add(parent);
    const stopAt = history.phases.find(({ name }) => name === 'stop')?.at;
    const up = new Set<number>();
    for (const { slot, pid, phase, at, code, signal } of history.processes) {
      if (phase === 'up') up.add(pid);
      if (phase !== 'exit' || !up.delete(pid) || killed.has(pid)) continue;
      if (stopAt !== undefined && at >= stopAt) continue;
      yield { text: `${slot} (pid ${pid}) ended by itself: ${signal ?? `exit code ${code}`}` };
    }
  },
);
