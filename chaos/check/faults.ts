import type { FaultEvent, Micros } from '../history/history.ts';
import { HARMLESS_CALL_FAULTS } from './call-faults.ts';
import { REMOTE } from './remote-slots.ts';

/** A fault from its injection until it was healed. */
export interface FaultWindow {
  id: number;
  kind: string;
  targets: string[];
  from: Micros;
  until: Micros;
  observed: boolean;
  pids: number[];
}

/**
 * Faults that a sound server shrugs off: a connection that breaks is opened again, an answer that was
 * lost is asked for again, clocks and hints do not matter. They are no excuse for running a job twice.
 */
const HARMLESS: readonly string[] = [
  ...HARMLESS_CALL_FAULTS,
  'api-cut',
  'cancel-cut',
  'clock-jump',
  'connections-exhausted',
  'connections-terminated',
  'cron-cut',
  'client-blackhole',
  'client-cut',
  'client-reset',
  'files-exhausted',
  'lease-cut',
  'link-delay',
  'link-reset',
  'link-throttle',
  'listen-blackhole',
  'reaper-cut',
  'redis-flush',
  'redis-freeze',
  'redis-kill',
  'redis-refuse',
  'snapshot-held',
  'watchdog-kill',
  'worker-cut',
];

/** Calls of remote workers go to the APIs. Another API takes over at once from one that was killed. */
const SERVES_REMOTES = /^(api|start)-\d/;
const KILLS = ['api-kill', 'start-kill', 'server-worker-kill'];

/** Targets that everybody depends on. */
const EVERYBODY = ['postgres', 'everything', 'machine'];

export class Faults {
  readonly windows: FaultWindow[];

  constructor(events: readonly FaultEvent[]) {
    const windows = new Map<number, FaultWindow>();
    for (const { id, phase, kind, targets, at, observed = false, pids = [] } of events) {
      const known = windows.get(id);
      if (phase === 'inject') {
        const until = Number.POSITIVE_INFINITY;
        windows.set(id, { id, kind, targets, from: at, until, observed, pids });
      } else if (known) {
        known.until = at;
        known.pids = [...new Set([...known.pids, ...pids])];
      }
    }
    this.windows = [...windows.values()];
  }

  /** Faults that were felt somewhere in this time; each is felt for a while after it was healed. */
  during(from: Micros, until: Micros, aftermath: Micros): FaultWindow[] {
    return this.windows.filter((fault) => fault.from <= until && fault.until + aftermath >= from);
  }

  /** Those among them that can have reached this process. */
  reaching(slot: string, from: Micros, until: Micros, aftermath: Micros): FaultWindow[] {
    return this.during(from, until, aftermath).filter(({ targets }) =>
      targets.some(
        (target) =>
          target === slot ||
          EVERYBODY.includes(target) ||
          (isRemote(slot) && SERVES_REMOTES.test(target)),
      ),
    );
  }

  /** Those that may cost this worker its lease or a process. */
  excusing(slot: string, from: Micros, until: Micros, aftermath: Micros): FaultWindow[] {
    const reached = this.reaching(slot, from, until, aftermath);
    return reached.filter(
      ({ kind }) => !HARMLESS.includes(kind) && !(isRemote(slot) && KILLS.includes(kind)),
    );
  }

  /** Whether the database itself, or the machine, was disturbed: then no bound on time holds. */
  shared(from: Micros, until: Micros, aftermath: Micros): boolean {
    return this.reaching('', from, until, aftermath).length > 0;
  }
}

function isRemote(slot: string): boolean {
  return slot.startsWith(REMOTE);
}
