import type { ClaimedJob } from '../../store/claim/claim.ts';

/** Consecutive jobs of one level, and the highest of their positions. */
export interface Taken {
  queue: number;
  rank: number;
  seq: number;
  jobs: number;
}

export function takenFrom(jobs: readonly ClaimedJob[]): Taken[] {
  const taken: Taken[] = [];
  let last: Taken | undefined;
  for (const { queue, rank, seq } of jobs) {
    if (last?.queue === queue && last.rank === rank) {
      last.jobs += 1;
      last.seq = Math.max(last.seq, seq);
    } else {
      last = { queue, rank, seq, jobs: 1 };
      taken.push(last);
    }
  }
  return taken;
}
