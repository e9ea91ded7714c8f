import type { Micros, RowEvent } from '../history/history.ts';

/** What one transaction did to one job: where its row left, and where it arrived. */
export interface Move {
  job: string;
  xid: string;
  seq: number;
  at: Micros;
  begun: Micros;
  /** Null when the job was born, or appeared from nowhere. */
  from: RowEvent | null;
  /** Null when it vanished. */
  to: RowEvent | null;
  /** Everything else the same transaction did to it; a sound one does nothing else. */
  more: RowEvent[];
}

/** The moves of each job, in the order in which they were committed. */
export function movesOf(rows: readonly RowEvent[]): Map<string, Move[]> {
  const byJob = new Map<string, Move[]>();
  const byTransaction = new Map<string, Move>();
  for (const row of rows.toSorted((a, b) => a.seq - b.seq)) {
    const name = `${row.job} ${row.xid}`;
    const side = row.move === 'left' ? 'from' : 'to';
    let move = byTransaction.get(name);
    // A job that begins to wait, and whose signal is there already, moves on in the same transaction.
    const goesOn = side === 'from' && move?.from && move.to?.state === 'suspended';
    if (!move || goesOn) {
      const { job, xid, seq, at, begun } = row;
      move = { job, xid, seq, at, begun, from: null, to: null, more: [] };
      byTransaction.set(name, move);
      const moves = byJob.get(job);
      if (moves) moves.push(move);
      else byJob.set(job, [move]);
    }
    if (move[side]) move.more.push(row);
    else move[side] = row;
  }
  return byJob;
}
