import type { Finding } from '../check.ts';
import { type Call, callsOf, claimName, names, outcomesIn, takingTurns } from './calls.ts';

/** Less than the pauses after four failures add up to. */
const PAUSES_MS = 400;

/** Rules that hold at all times: they are judged by all calls of a run. */
export function judge(calls: readonly Call[]): Finding[] {
  return [
    found(7, 'sends the key and bodies of the schema in every call', [
      ...new Set(calls.flatMap(({ problems }) => problems)),
    ]),
    found(4, 'reports only about claims that it got', foreign(calls)),
    found(4, 'reports nothing again that is settled', repeated(calls)),
    found(2, 'reports nothing about a job that is gone', ofGone(calls)),
    found(3, 'takes no jobs with an id that it has replaced', ofFormer(calls)),
  ];
}

/** How long the worker paused between failed calls, from the end of one to the next. */
export function pausesMs(failed: readonly Pick<Call, 'arrivedMs' | 'endedMs'>[]): number[] {
  return failed.slice(1).map(({ arrivedMs }, index) => arrivedMs - (failed[index]?.endedMs ?? 0));
}

/** Pauses may be random, but not all of them short. */
export function pausesEnough(pauses: readonly number[]): boolean {
  return pauses.reduce((sum, one) => sum + one, 0) >= PAUSES_MS;
}

function found(rule: number, check: string, wrong: readonly string[]): Finding {
  const [first] = wrong;
  if (first === undefined) return { rule, check, status: 'ok', detail: null };
  const more = wrong.length > 1 ? `, and ${wrong.length - 1} more` : '';
  return { rule, check, status: 'failed', detail: `${first}${more}` };
}

function foreign(calls: readonly Call[]): string[] {
  return outcomesIn(calls).flatMap(({ call, ...claim }) => {
    const got = callsOf(calls, 'turn').some(
      ({ instance, at, sent }) => instance === call.instance && at < call.at && names(sent, claim),
    );
    // The answer of a heartbeat names what it owns and does not hold: it may be given back.
    const returned = claim.outcome.kind === 'unstarted';
    return got || returned ? [] : [`an outcome of ${claimName(claim)}, which it did not get`];
  });
}

function repeated(calls: readonly Call[]): string[] {
  const outcomes = outcomesIn(calls);
  return outcomes.flatMap((one) => {
    const settled = callsOf(calls, 'turn').some(
      ({ endedAt, reply, body }) =>
        endedAt !== null &&
        endedAt < one.call.at &&
        reply !== null &&
        names(body?.outcomes ?? [], one) &&
        names(reply.settled, one),
    );
    return settled ? [`a second outcome of ${claimName(one)}, which was settled`] : [];
  });
}

/** A turn may be on its way while the worker reads that a job is gone. */
const ON_ITS_WAY_MS = 1_000;

function ofGone(calls: readonly Call[]): string[] {
  return outcomesIn(calls).flatMap((one) => {
    const gone = callsOf(calls, 'beat').some(
      ({ endedAt, reply, body }) =>
        endedAt !== null &&
        endedAt + ON_ITS_WAY_MS < one.call.at &&
        names(body?.holding ?? [], one) &&
        reply?.gone.includes(one.id),
    );
    return gone ? [`an outcome of ${claimName(one)}, which was gone`] : [];
  });
}

function ofFormer(calls: readonly Call[]): string[] {
  const current = callsOf(calls, 'register');
  return takingTurns(calls).flatMap(({ instance, at }) => {
    const last = current.findLast((call) => call.at < at);
    const was = current.some((call) => call.instance === instance && call.at < (last?.at ?? 0));
    return was && last?.instance !== instance
      ? [`a turn with room of ${instance}, after ${last?.instance} was registered`]
      : [];
  });
}
