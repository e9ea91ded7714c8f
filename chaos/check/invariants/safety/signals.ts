import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import type { JobRecord } from '../../job-records.ts';

/** A job says which payload it got; its client knows which one it sent. */
export const signals = invariant(
  'S29',
  'A job that waits for a signal goes on with its payload, and with nothing else; an acknowledged signal is not lost.',
  function* (facts) {
    for (const record of facts.records.values()) {
      if (record.wanted?.does !== 'wait') continue;
      const text = wrongWith(record, sentTo(facts, record));
      if (text !== null) yield { job: record.id, text };
    }
  },
);

interface Sent {
  token: string;
  acknowledged: boolean;
  invokedAt: number;
}

function sentTo({ operations }: Facts, { id }: JobRecord): Sent[] {
  return operations.flatMap(({ call, result, invokedAt }) =>
    call.name === 'signal' && call.job === id && result !== 'fail'
      ? [{ token: call.token, acknowledged: result === 'ok', invokedAt }]
      : [],
  );
}

function wrongWith({ executions, final }: JobRecord, sent: readonly Sent[]): string | null {
  let first: string | undefined;
  for (const { effects } of executions) {
    for (const { what, token, at } of effects) {
      if (what !== 'signal') continue;
      first ??= token;
      if (token !== first) return `got ${first}, and then ${token}`;
      const mine = sent.filter((one) => one.token === token && one.invokedAt <= at);
      if (mine.length === 0) return `got ${token}, which was not sent to it by then`;
    }
  }
  if (sent.some(({ acknowledged }) => acknowledged)) {
    if (final?.state === 'suspended') return 'still waits for a signal that was acknowledged';
    if (final?.errorCode === 'SIGNAL_TIMEOUT') return 'timed out after a signal was acknowledged';
  }
  const last = executions.at(-1);
  const signalled = last?.effects.some(({ what }) => what === 'signal') ?? false;
  if (final?.state === 'succeeded' && !signalled) return 'went on without a signal';
  return null;
}
