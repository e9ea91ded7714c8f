import { setTimeout as pause } from 'node:timers/promises';
import { faultOf } from './faults/catalogue.ts';
import type { Fault, Injection } from './faults/fault.ts';
import { nowMicros } from './history/now.ts';
import type { Recorder } from './history/recorder.ts';
import type { PlannedFault } from './plan.ts';
import type { World } from './world/world.ts';

const TRIES = 8;
const RETRY_MS = 700;
const STALL_MS = 300;
const LOOK_MS = 50;

/** Carries out a plan of faults, and writes down what it really did. */
export class Injector {
  readonly #world: World;
  readonly #recorder: Recorder;
  readonly #active = new Set<Promise<void>>();
  readonly #stallWatch: NodeJS.Timeout;
  #injected = 0;

  constructor(world: World, recorder: Recorder) {
    this.#world = world;
    this.#recorder = recorder;
    this.#stallWatch = this.#watchForStalls();
  }

  get injected(): number {
    return this.#injected;
  }

  /** Ends when the last one has begun; `healed` waits for their ends. */
  async carryOut(plan: readonly PlannedFault[], signal: AbortSignal): Promise<void> {
    const startMs = performance.now();
    for (const planned of plan) {
      const waitMs = planned.atMs - (performance.now() - startMs);
      if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const fault = this.#strikeSoon(planned).finally(() => this.#active.delete(fault));
      this.#active.add(fault);
    }
  }

  async healed(): Promise<void> {
    while (this.#active.size > 0) await Promise.all(this.#active);
  }

  /** One fault now; answers with how to end it. Null when there was nothing to hit. */
  async strike(kind: string, pick: number): Promise<(() => Promise<void>) | null> {
    const fault = faultOf(kind);
    if (fault.impossible?.(this.#world)) return null;
    const injection = await fault.inject(this.#world, pick).catch(() => null);
    return injection && this.begin(fault, injection);
  }

  /** Writes down a fault that was made by hand. */
  begin({ kind }: Pick<Fault, 'kind'>, injection: Injection): () => Promise<void> {
    const { targets, pids = [], note, heal } = injection;
    const id = (this.#injected += 1);
    const facts = { id, kind, targets, pids, ...(note !== undefined && { note }) };
    this.#world.occupy(targets);
    this.#recorder.write('faults', { ...facts, at: nowMicros(), phase: 'inject' });
    return async () => {
      try {
        await heal();
      } finally {
        this.#world.release(targets);
        this.#recorder.write('faults', { ...facts, at: nowMicros(), phase: 'heal' });
      }
    };
  }

  close(): void {
    clearInterval(this.#stallWatch);
  }

  /** What it wants to hit may be busy with another fault: then a little later. */
  async #strikeSoon({ kind, holdMs, pick }: PlannedFault): Promise<void> {
    const deadline = performance.now() + (faultOf(kind).patienceMs ?? 0);
    for (let tries = 0; tries < TRIES || performance.now() < deadline; tries += 1) {
      const heal = await this.strike(kind, pick);
      if (heal) {
        await pause(holdMs);
        return await heal();
      }
      await pause(RETRY_MS);
    }
  }

  /** A machine that stands still is a fault as well, an unplanned one. */
  #watchForStalls(): NodeJS.Timeout {
    let last = nowMicros();
    return setInterval(() => {
      const now = nowMicros();
      const lostMs = (now - last) / 1_000 - LOOK_MS;
      if (lostMs > STALL_MS) {
        const id = -now;
        const facts = { id, kind: 'machine-stall', targets: ['machine'], observed: true };
        this.#recorder.write('faults', { ...facts, at: last, phase: 'inject' });
        this.#recorder.write('faults', { ...facts, at: now, phase: 'heal' });
      }
      last = now;
    }, LOOK_MS);
  }
}
