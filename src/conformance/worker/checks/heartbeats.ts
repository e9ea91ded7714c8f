import { type Check, expectThat, Skipped } from '../../check.ts';
import { callsOf, names, takingTurns } from '../calls.ts';
import { ECHO, type Stage } from '../stage.ts';

const BEATS = 3;
const TRIES = 3;

const REGULAR: Check<Stage> = {
  rule: 2,
  check: 'sends heartbeats while a job runs, also after one without an answer',
  play: async (stage) => {
    const job = await stage.running();
    stage.fault({ match: ({ kind }) => kind === 'beat', fault: 'drop', when: 'after' });
    const count = stage.beats(job).length;
    await stage.until(`${BEATS} more heartbeats that hold the job`, () => {
      return stage.beats(job).length >= count + BEATS;
    });
    await stage.stop(job);
  },
};

/** It obeys if one of a few heartbeats comes early; a busy machine can delay the others. */
const AT_ONCE: Check<Stage> = {
  rule: 2,
  check: 'sends a heartbeat at once when a turn answers beat: true',
  play: async (stage) => {
    const { instance } = await stage.ready();
    const worker = stage.player.queue.workers.get(instance);
    if (!worker) throw new Skipped('its lease ended');
    if (worker.slots < 2) throw new Skipped('it needs a worker with two slots');
    const job = await stage.running();
    const soonMs = worker.leaseMs / 3 / 2;
    const gaps: number[] = [];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const last = await nextBeat(stage);
      await stage.ready();
      stage.news(instance);
      const next = await nextBeat(stage);
      gaps.push(Math.round(next.arrivedMs - last.arrivedMs));
      if (next.arrivedMs - last.arrivedMs < soonMs) break;
    }
    const soon = gaps.some((gap) => gap < soonMs);
    await stage.stop(job);
    expectThat(soon, `a heartbeat within ${soonMs} ms`, `heartbeats after ${gaps.join(', ')} ms`);
  },
};

async function nextBeat(stage: Stage) {
  const count = callsOf(stage.calls, 'beat').length;
  return await stage.until('a heartbeat', () => callsOf(stage.calls, 'beat')[count]);
}

const CANCEL: Check<Stage> = {
  rule: 2,
  check: 'stops a job in cancel, and reports how it ended',
  play: async (stage) => {
    const job = await stage.running();
    stage.cancel(job);
    await stage.over(job);
  },
};

const GONE: Check<Stage> = {
  rule: 2,
  check: 'drops a job in gone, and reports nothing',
  play: async (stage) => {
    const job = await stage.running();
    stage.player.queue.drop(job);
    const { claim } = job;
    const told = await stage.until('a heartbeat with the job', () =>
      callsOf(stage.calls, 'beat').find(({ reply }) => reply?.gone.includes(job.id)),
    );
    // It has room for another one, and what it holds then is known.
    const next = await stage.running();
    await stage.stop(next);
    await stage.over(stage.add(ECHO, {}));
    const outcomes = stage.outcomesOf(job);
    expectThat(
      outcomes.length === 0,
      'no outcome of the job',
      outcomes.map((one) => one.outcome),
    );
    const later = stage.beats(next).filter(({ at }) => at > (told.endedAt ?? Infinity));
    const still = later.at(-1)?.body?.holding ?? [];
    expectThat(!names(still, { id: job.id, claim }), 'that it is not held any more', still);
  },
};

/** The last check: the worker ends. */
export const DRAIN: Check<Stage> = {
  rule: 2,
  check: 'takes no more jobs on drain, finishes what runs, and leaves',
  play: async (stage) => {
    const { instance } = await stage.ready();
    const job = await stage.running();
    const worker = stage.player.queue.workers.get(instance);
    if (worker) worker.draining = true;
    stage.news(instance);
    const drained = () => stage.beats(job).filter(({ reply }) => reply?.drain);
    // One turn may have been on its way when the first of them was answered.
    await stage.until(`heartbeats while it finishes`, () => drained().length >= BEATS);
    const known = drained()[1]?.endedAt ?? Infinity;
    const turns = takingTurns(stage.calls).filter(({ at, body }) => at > known && !body?.holding);
    expectThat(turns.length === 0, 'no turn with room', `${turns.length} turns with room`);
    await stage.stop(job);
    await stage.until('DELETE', () => callsOf(stage.calls, 'leave').length > 0);
  },
};

export const HEARTBEATS: readonly Check<Stage>[] = [REGULAR, AT_ONCE, CANCEL, GONE];
