import { type Check, expectThat, Skipped } from '../../check.ts';
import { callsOf, type Call, type Fault, names, takingTurns } from '../calls.ts';
import { pausesEnough, pausesMs } from '../judge.ts';
import { delivered } from '../memory-queue.ts';
import { ECHO, KEYS, type Stage } from '../stage.ts';

const FAILURES = 5;
/** The ten seconds of the rule, and as many again for a busy machine. */
const DEADLINE_MS = 20_000;
/** Turns that the worker may have sent before it noticed the failure, and one more. */
const UNDECLARED_MAX = 3;

const brings = (wanted: string) => (call: Call) => call.sent.some(({ id }) => id === wanted);

export const REGISTERS: Check<Stage> = {
  rule: 1,
  check: 'registers, and keeps a turn open while there is room',
  play: async (stage) => {
    const { instance } = await stage.ready();
    const [{ body } = { body: null }] = callsOf(stage.calls, 'register').filter(
      (call) => call.instance === instance,
    );
    const keys = body?.definitions.map(({ key }) => key) ?? [];
    const missing = KEYS.filter((key) => !keys.includes(key));
    expectThat(missing.length === 0, `the definitions ${KEYS.join(', ')}`, keys);
  },
};

const PAUSES: Check<Stage> = {
  rule: 1,
  check: 'waits after failures',
  play: async (stage) => {
    const { instance } = await stage.ready();
    const from = stage.calls.length;
    const fault = { status: 503 };
    const match = (call: Call) => call.kind === 'turn';
    stage.fault({ match, fault, when: 'before', stays: true });
    stage.news(instance);
    const failed = () =>
      takingTurns(stage.calls.slice(from)).filter(({ status }) => status === fault.status);
    await stage.until(`${FAILURES} turns that are repeated after 503`, () => {
      return failed().length >= FAILURES;
    });
    stage.player.plans = [];
    const pauses = pausesMs(failed().slice(0, FAILURES));
    const came = `pauses of ${pauses.map(Math.round).join(', ')} ms`;
    expectThat(pausesEnough(pauses), 'growing pauses between failing calls', came);
    await stage.ready();
  },
};

/** A turn takes a job, and its answer is lost in one way or another. */
function lost(how: string, fault: Fault): Check<Stage> {
  return {
    rule: 5,
    check: `sends holding after a turn without an answer (${how})`,
    play: async (stage) => {
      const { instance } = await stage.ready();
      const held = stage.slotsOf(instance) > 1 ? await stage.running() : null;
      await stage.ready();
      const job = stage.add(ECHO, { lost: how });
      await expectHolding(stage, job.id, fault);
      const declared = takingTurns(stage.calls).findLast(({ body }) => body?.holding);
      const holding = declared?.body?.holding ?? [];
      if (held) expectThat(names(holding, held), 'holding with the job that runs', holding);
      await stage.over(job);
      expectThat(job.state === 'succeeded', 'the lost job to run', job.state);
      if (held) await stage.stop(held);
    },
  };
}

async function expectHolding(stage: Stage, id: string, fault: Fault): Promise<void> {
  const spoiled = () => stage.calls.find((call) => call.fault !== null && brings(id)(call));
  stage.fault({ match: brings(id), fault, when: 'after' });
  stage.player.touch();
  const call = await stage.until('a turn that takes the job', spoiled);
  const waitMs = call.kind === 'turn' ? (call.body?.waitMs ?? 0) : 0;
  const patienceMs = waitMs + DEADLINE_MS;
  await stage.until(
    'the end of a turn that is never answered',
    () => call.endedAt !== null,
    patienceMs,
  );
  const next = () => takingTurns(stage.calls).filter(({ at }) => at > (call.endedAt ?? 0));
  await stage.until('a next turn with holding', () => {
    const undeclared = next().filter(({ body }) => body?.holding === undefined);
    const came = `${undeclared.length} turns without it`;
    expectThat(undeclared.length < UNDECLARED_MAX, 'a next turn with holding', came);
    return next().some(({ body }) => body?.holding !== undefined);
  });
}

const DEADLINE: Check<Stage> = {
  rule: 1,
  check: 'gives a turn a deadline',
  play: async (stage) => {
    await stage.ready();
    const job = stage.add(ECHO, { lost: 'no answer' });
    await expectHolding(stage, job.id, 'hang');
    await stage.over(job);
  },
};

const STARTS_ONCE: Check<Stage> = {
  rule: 5,
  check: 'starts a claim once that is delivered twice',
  play: async (stage) => {
    const { instance } = await stage.ready();
    if (stage.slotsOf(instance) < 2) throw new Skipped('it needs a worker with two slots');
    const job = await stage.running();
    await stage.ready();
    stage.player.deliverAgain(instance, delivered(job));
    const again = await stage.until(
      'a turn that brings it again',
      () => stage.calls.filter(brings(job.id)).filter(({ endedAt }) => endedAt !== null)[1],
    );
    // By the second heartbeat, the worker has read the answer and done what it does with it.
    await twoBeatsAfter(stage, again.endedAt ?? 0);
    await stage.stop(job);
    // A second run reports at about the same time, but its call may arrive later.
    await twoBeatsAfter(stage, stage.calls.at(-1)?.at ?? 0);
    const outcomes = stage.outcomesOf(job).filter(({ call }) => call.fault === null);
    expectThat(outcomes.length === 1, 'one outcome', `${outcomes.length} outcomes`);
  },
};

async function twoBeatsAfter(stage: Stage, after: number): Promise<void> {
  const isLater = ({ at }: { at: number }) => at > after;
  await stage.until(
    'two heartbeats',
    () => callsOf(stage.calls, 'beat').filter(isLater).length > 1,
  );
}

export const TURNS: readonly Check<Stage>[] = [
  PAUSES,
  lost('the connection closes', 'drop'),
  lost('the answer is cut off', 'cut'),
  lost('the status is 504', { status: 504 }),
  DEADLINE,
  STARTS_ONCE,
];
