import type { Micros } from '../../../history/history.ts';
import type { Period } from '../../free-slots.ts';
import { invariant, ms } from '../../invariant.ts';
import type { Story } from '../../stories.ts';

/** Between two looks at the queue there are no more polls than this (`worker/claim/poll-interval.ts`). */
const POLLS = 10;
/** Beside that: the look, the claim, and the timers of a machine that is busy. */
const SLACK: Micros = 1_500_000;

/** Jobs that a limit may hold back are left out. */
export const noIdling = invariant(
  'L12',
  'No queued job waits for longer than ten polls while a healthy worker has a free slot.',
  function* ({ history, stories, freeSlots }) {
    const bound = POLLS * history.run.pollMs * 1_000 + SLACK;
    for (const story of stories.values()) {
      if (story.wanted?.limits) continue;
      for (const period of queuedPeriods(story)) {
        if (period.until - period.from <= bound) continue;
        const idle = freeSlots.idleDuring(period, bound);
        if (!idle) continue;
        const text = `was queued for ${ms(idle.took)} while ${idle.worker} had a free slot`;
        yield { job: story.id, text };
      }
    }
  },
);

function queuedPeriods({ moves }: Story): Period[] {
  return moves.flatMap(({ to, at }, index) => {
    const next = moves[index + 1];
    if (to?.place !== 'waiting' || to.state !== 'queued') return [];
    return [{ from: at, until: next?.at ?? Infinity }];
  });
}
