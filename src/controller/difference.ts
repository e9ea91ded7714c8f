import type { BeatReply, HeldClaim } from '../protocol/worker-protocol.ts';
import type { HeartbeatAnswer } from '../store/workers/workers.ts';

/** What a worker must know that holds these claims and owns others. */
export function difference(
  answers: readonly Pick<HeartbeatAnswer, 'owned' | 'draining'>[],
  holding: readonly HeldClaim[],
): BeatReply {
  const owned = new Map(answers.flatMap((one) => one.owned).map((job) => [job.id, job]));
  const held = new Set(holding.map(({ id }) => id));
  const isOwned = ({ id, claim }: HeldClaim) => owned.get(id)?.claim === claim;
  const ours = new Set(holding.filter(isOwned).map(idOf));
  return {
    cancel: holding
      .filter((one) => isOwned(one) && owned.get(one.id)?.state === 'cancelling')
      .map(idOf),
    // The outcome of an earlier claim may be unsettled while a later one of the same job runs.
    gone: holding.filter(({ id }) => !ours.has(id)).map(idOf),
    unheld: [...owned.values()]
      .filter(({ id }) => !held.has(id))
      .map(({ id, claim, attempts }) => ({ id, claim, attempt: attempts })),
    drain: answers.some(({ draining }) => draining),
  };
}

function idOf({ id }: { id: string }): string {
  return id;
}
