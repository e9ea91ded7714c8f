import type { History, LeaseEvent, Micros, ProcessEvent } from '../history/history.ts';

/** A worker instance: one life of one worker's lease. */
export interface Instance {
  id: string;
  pid: number;
  /** The slot of the world that its process filled; empty for an unknown process. */
  slot: string;
  registeredAt: Micros;
  beats: LeaseEvent[];
  /** The last moment that its lease was good for. */
  leaseEnd: Micros;
  death: LeaseEvent | null;
  /** When the same process registered again under another id; null when it did not. */
  backAt: Micros | null;
}

export function instancesOf({ leases, processes }: History): Map<string, Instance> {
  const instances = new Map<string, Instance>();
  for (const event of leases.toSorted((a, b) => a.seq - b.seq)) {
    const { worker: id, pid, at, until } = event;
    let instance = instances.get(id);
    if (!instance) {
      const slot = slotOf(processes, pid, at);
      for (const former of instances.values()) if (former.pid === pid) former.backAt ??= at;
      instance = {
        id,
        pid,
        slot,
        registeredAt: at,
        beats: [],
        leaseEnd: until,
        death: null,
        backAt: null,
      };
      instances.set(id, instance);
    }
    if (event.deadAt !== null) {
      instance.death ??= event;
    } else {
      instance.beats.push(event);
      instance.leaseEnd = until;
    }
  }
  return instances;
}

/** A process number may be given out again, so the youngest process that had begun by then counts. */
function slotOf(processes: readonly ProcessEvent[], pid: number, at: Micros): string {
  const begun = processes.filter((one) => one.pid === pid && one.phase === 'spawn' && one.at <= at);
  return begun.at(-1)?.slot ?? '';
}
