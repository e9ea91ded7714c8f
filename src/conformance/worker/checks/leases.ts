import { type Check, expectThat } from '../../check.ts';
import { callsOf } from '../calls.ts';
import { ECHO, type Stage } from '../stage.ts';

const LEASES = 4;

const LOST: Check<Stage> = {
  rule: 3,
  check: 'makes a new id when its heartbeats fail for a lease',
  play: async (stage) => {
    const job = await stage.running();
    const { owner } = job;
    const { leaseMs = 0 } = stage.player.queue.workers.get(owner ?? '') ?? {};
    const isBeat = ({ kind, instance }: { kind: string; instance: string }) =>
      kind === 'beat' && instance === owner;
    stage.fault({ match: isBeat, fault: 'drop', when: 'before', stays: true });
    const patienceMs = LEASES * leaseMs + 30_000;
    await stage.until('a registration with a new id', () => registered(stage, owner), patienceMs);
    stage.player.plans = [];
    await anew(stage, owner);
  },
};

const GONE: Check<Stage> = {
  rule: 6,
  check: 'makes a new id after a 410',
  play: async (stage) => {
    const { owner } = await stage.running();
    if (owner !== null) stage.player.queue.expire(owner);
    stage.player.touch();
    await stage.until('a registration with a new id', () => registered(stage, owner));
    await anew(stage, owner);
  },
};

const REPEATED: Check<Stage> = {
  rule: 6,
  check: 'repeats a registration after 429, 503 and a lost answer',
  play: async (stage) => {
    const { instance } = await stage.ready();
    const isRegistration = ({ kind }: { kind: string }) => kind === 'register';
    for (const fault of [{ status: 429 }, { status: 503 }, 'drop'] as const) {
      stage.fault({ match: isRegistration, fault, when: 'after' });
    }
    stage.player.queue.expire(instance);
    stage.player.touch();
    await anew(stage, instance);
  },
};

function registered(stage: Stage, old: string | null): boolean {
  return (
    callsOf(stage.calls, 'register').some(({ instance, at }) => {
      const before = stage.calls.some((call) => call.instance === old && call.at < at);
      const first = stage.calls.find((call) => call.instance === instance);
      return instance !== old && before && first?.at === at;
    }) && stage.calls.findLast(({ kind }) => kind === 'register')?.instance !== old
  );
}

/** It works under another id. */
async function anew(stage: Stage, old: string | null): Promise<void> {
  await stage.until('a turn with the new id', () => {
    return callsOf(stage.calls, 'turn').at(-1)?.instance !== old;
  });
  await stage.ready();
  const job = stage.add(ECHO, {});
  const { call } = await stage.over(job);
  expectThat(call.instance !== old, 'an outcome with the new id', call.instance);
}

export const LEASE_CHECKS: readonly Check<Stage>[] = [LOST, GONE, REPEATED];
