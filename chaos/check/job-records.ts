import type {
  AttemptEvent,
  Effect,
  FinalJob,
  History,
  Micros,
  RowEvent,
  WantedJob,
} from '../history/history.ts';
import { type Move, movesOf } from './moves.ts';
import type { Operation } from './operations.ts';
import { askedBy } from './operations.ts';

/** How far two clocks of one machine may seem apart after the conversion. */
export const CLOCK_SLACK: Micros = 25_000;

/** The time in which one claim owned a job, by the database. */
export interface Claim {
  number: number;
  attempts: number;
  maxAttempts: number;
  worker: string;
  at: Micros;
  begun: Micros;
  seq: number;
  /** How it ended; null while it still owns the job. */
  end: Move | null;
  /** What was stored about its end, unless that was a success or it never began. */
  ending: AttemptEvent | null;
}

/** One run of a handler, by its own account. */
export interface Execution {
  id: string;
  job: string;
  attempt: number;
  pid: number;
  parent: number;
  isolation: string;
  startAt: Micros;
  /** The last sign of life. */
  lastAt: Micros;
  paramsSha: string | null;
  effects: Effect[];
  /** The claim under which it ran: the newest of its attempt's at its start. */
  claim: Claim | null;
}

/** All that is known of one job. */
export interface JobRecord {
  id: string;
  moves: Move[];
  claims: Claim[];
  executions: Execution[];
  wanted: WantedJob | null;
  final: FinalJob | null;
}

export function jobRecordsOf(
  history: History,
  operations: readonly Operation[],
): Map<string, JobRecord> {
  const records = new Map<string, JobRecord>();
  const recordOf = (id: string): JobRecord => {
    let record = records.get(id);
    if (!record) {
      record = { id, moves: [], claims: [], executions: [], wanted: null, final: null };
      records.set(id, record);
    }
    return record;
  };
  const attempts = new Map(history.attempts.map((row) => [`${row.job} ${row.claim}`, row]));
  for (const [id, moves] of movesOf(history.rows)) {
    const record = recordOf(id);
    record.moves = moves;
    record.claims = claimsOf(id, moves, attempts);
  }
  for (const execution of executionsOf(history.effects)) {
    const record = recordOf(execution.job);
    execution.claim = claimAt(record.claims, execution);
    record.executions.push(execution);
  }
  for (const job of history.final) recordOf(job.job).final = job;
  const asked = operations.flatMap(({ call }) => askedBy(call));
  const wanted = new Map(
    asked.flatMap((job) => [job, ...wantedChildren(job)]).map((job) => [job.paramsSha, job]),
  );
  for (const record of records.values()) {
    record.wanted = wanted.get(record.final?.paramsSha ?? '') ?? null;
  }
  return records;
}

/** The children of a job as it asks for them. */
export function wantedChildren({ spawns = [] }: WantedJob): WantedJob[] {
  return spawns.map((paramsSha) => ({ paramsSha, definition: 'quick', does: 'ok', delayMs: 0 }));
}

function claimsOf(
  job: string,
  moves: readonly Move[],
  attempts: ReadonlyMap<string, AttemptEvent>,
): Claim[] {
  const claims: Claim[] = [];
  for (const move of moves) {
    const { from, to, at, begun, seq } = move;
    const open = claims.at(-1);
    if (open && !open.end && from?.place === 'running' && to?.place !== 'running') open.end = move;
    if (to?.place !== 'running' || from?.place === 'running') continue;
    const { claim: number, attempts: attempt, maxAttempts } = to;
    const ending = attempts.get(`${job} ${number}`) ?? null;
    const worker = to.worker ?? '';
    claims.push({
      number,
      attempts: attempt,
      maxAttempts,
      worker,
      at,
      begun,
      seq,
      end: null,
      ending,
    });
  }
  return claims;
}

function executionsOf(effects: readonly Effect[]): Execution[] {
  const executions = new Map<string, Execution>();
  for (const effect of effects.toSorted((a, b) => a.at - b.at)) {
    const { execution: id, job, attempt, pid, parent, isolation, at, paramsSha = null } = effect;
    const known = executions.get(id);
    if (known) {
      known.effects.push(effect);
      known.lastAt = at;
    } else {
      const facts = { id, job, attempt, pid, parent, isolation, paramsSha };
      executions.set(id, { ...facts, startAt: at, lastAt: at, effects: [effect], claim: null });
    }
  }
  return [...executions.values()];
}

function claimAt(claims: readonly Claim[], { attempt, startAt }: Execution): Claim | null {
  const lastBefore = (moment: Micros) =>
    claims.findLast(({ attempts, at }) => attempts === attempt && at <= moment);
  return lastBefore(startAt) ?? lastBefore(startAt + CLOCK_SLACK) ?? null;
}

/** Where a job's row was last seen to arrive. */
export function lastSpot({ moves }: JobRecord): RowEvent | null {
  return moves.at(-1)?.to ?? null;
}
