import { isDeepStrictEqual } from 'node:util';
import { type Check, expectThat } from '../../check.ts';
import { type Call, callsOf, type Fault } from '../calls.ts';
import { ECHO, FAIL, type Stage } from '../stage.ts';

/** Jobs of one check, if heartbeats come in between. */
const TRIES = 5;
const PARAMS = { text: 'Grüße', list: [1, 2.5, null], deep: { yes: true } };

const RESULTS: Check<Stage> = {
  rule: 4,
  check: 'reports a result and a failure',
  play: async (stage) => {
    await stage.ready();
    const echo = stage.add(ECHO, PARAMS);
    const { outcome } = await stage.over(echo);
    expectThat(outcome.kind === 'success', `success of ${ECHO}`, outcome);
    const result = parsed(outcome.resultJson);
    expectThat(isDeepStrictEqual(result, PARAMS), `its params as resultJson`, outcome.resultJson);
    const fail = stage.add(FAIL);
    const { outcome: failure } = await stage.over(fail);
    expectThat(failure.kind === 'failure', `failure of ${FAIL}`, failure);
    const { message } = failure.error as { message?: unknown };
    expectThat(typeof message === 'string' && message !== '', 'a message in its error', failure);
  },
};

/** The call that brings an outcome fails in one way or another: the outcome comes again, unchanged. */
function kept(how: string, fault: Fault, when: 'before' | 'after'): Check<Stage> {
  return {
    rule: 4,
    check: `keeps an outcome until it is settled (${how})`,
    play: async (stage) => {
      const { job, sent } = await reportTwice(stage, how, fault, when);
      const [first, second] = sent;
      const same =
        isDeepStrictEqual(first?.outcome, second?.outcome) && first?.claim === second?.claim;
      expectThat(same, 'the same outcome of the same claim', second?.outcome);
      await stage.over(job);
    },
  };
}

/**
 * A heartbeat between the two calls can answer that the job is gone, because the server has settled
 * the outcome. The worker then drops it and reports nothing again: the check takes another job.
 */
async function reportTwice(stage: Stage, how: string, fault: Fault, when: 'before' | 'after') {
  for (let tries = 1; ; tries += 1) {
    await stage.ready();
    const job = stage.add(ECHO, { kept: how });
    stage.fault({ match: reports(job.id), fault, when });
    const sent = await stage.until('the same outcome again', () => {
      const outcomes = stage.outcomesOf(job);
      if (outcomes.length >= 2) return outcomes;
      return tries < TRIES && isGone(stage, job.id) && [];
    });
    if (sent.length > 0) return { job, sent };
  }
}

function isGone(stage: Stage, id: string): boolean {
  return callsOf(stage.calls, 'beat').some(({ reply }) => reply?.gone.includes(id));
}

const REPLACED: Check<Stage> = {
  rule: 6,
  check: 'replaces an outcome that is refused with 400 by a failure',
  play: async (stage) => {
    await stage.ready();
    const job = stage.add(ECHO, { refused: true });
    const success = (call: Call) =>
      reports(job.id)(call) && JSON.stringify(call.body).includes('"success"');
    stage.fault({ match: success, fault: { status: 400 }, when: 'before', stays: true });
    const { outcome } = await stage.until('a failure in place of the refused result', () =>
      stage.outcomesOf(job).find((one) => one.outcome.kind === 'failure'),
    );
    stage.player.plans = [];
    expectThat(outcome.kind === 'failure', 'a failure', outcome);
    await stage.over(job);
  },
};

const reports = (id: string) => (call: Call) =>
  call.kind === 'turn' && (call.body?.outcomes ?? []).some((one) => one.id === id);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

export const OUTCOMES: readonly Check<Stage>[] = [
  RESULTS,
  kept('the connection closes', 'drop', 'after'),
  kept('the answer is cut off', 'cut', 'after'),
  kept('the status is 503', { status: 503 }, 'before'),
  kept('the status is 429', { status: 429 }, 'before'),
  REPLACED,
];
