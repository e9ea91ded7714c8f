import type {
  BeatReply,
  BeatRequest,
  RegisterRequest,
  TurnReply,
  TurnRequest,
} from '../../protocol/worker-protocol.ts';

/** How an answer is spoiled. */
export type Fault =
  /** The connection closes without an answer. */
  | 'drop'
  /** The connection closes in the middle of the answer. */
  | 'cut'
  /** No answer ever comes. */
  | 'hang'
  /** Another status, although the call was processed. */
  | { status: number };

/** Calls and the ends of calls count up together, so their order can be judged. */
interface AnyCall {
  at: number;
  arrivedMs: number;
  instance: string;
  /** What is wrong with the call itself. */
  problems: string[];
  fault: Fault | null;
  /** When the answer was sent, or the connection ended without one. */
  endedAt: number | null;
  endedMs: number | null;
  /** The status of an answer that was sent whole. */
  status: number | null;
  /** The jobs of the answer to a turn, also of a spoiled one. */
  sent: readonly ClaimId[];
}

interface Kinds {
  register: { body: RegisterRequest | null; reply: null };
  turn: { body: TurnRequest | null; reply: TurnReply | null };
  beat: { body: BeatRequest | null; reply: BeatReply | null };
  say: { body: unknown; reply: null };
  leave: { body: null; reply: null };
  unknown: { body: unknown; reply: null };
}

export type CallKind = keyof Kinds;
export type CallOf<Kind extends CallKind> = AnyCall & { kind: Kind } & Kinds[Kind];
/** A call of the worker under test, as it was received and answered. */
export type Call = { [Kind in CallKind]: CallOf<Kind> }[CallKind];

export function callsOf<Kind extends CallKind>(calls: readonly Call[], kind: Kind): CallOf<Kind>[] {
  return calls.filter(
    (call): call is Extract<Call, { kind: Kind }> & CallOf<Kind> => call.kind === kind,
  );
}

/** Turns that can bring jobs. */
export function takingTurns(calls: readonly Call[]): CallOf<'turn'>[] {
  return callsOf(calls, 'turn').filter(({ body }) => (body?.room ?? 0) > 0);
}

export interface ClaimId {
  id: string;
  claim: number;
}

export function claimName({ id, claim }: ClaimId): string {
  return `${id}:${claim}`;
}

export function names(claims: readonly ClaimId[], one: ClaimId): boolean {
  return claims.some(({ id, claim }) => id === one.id && claim === one.claim);
}

/** An outcome that a turn brought. */
export interface Reported extends ClaimId {
  call: CallOf<'turn'>;
  outcome: TurnRequest['outcomes'][number]['outcome'];
}

export function outcomesIn(calls: readonly Call[]): Reported[] {
  return callsOf(calls, 'turn').flatMap((call) =>
    (call.body?.outcomes ?? []).map(({ id, claim, outcome }) => ({ call, id, claim, outcome })),
  );
}

/** The last calls, in a few words. */
export function describeCalls(calls: readonly Call[], max = 4): string {
  if (calls.length === 0) return 'no call';
  const words = calls.slice(-max).map((call) => {
    const { kind, status, fault } = call;
    const answer = fault === null ? (status ?? 'open') : JSON.stringify(fault).replaceAll('"', '');
    return `${kind}${detailOf(call)} → ${answer}`;
  });
  return `these last calls: ${words.join(', ')}`;
}

function detailOf(call: Call): string {
  if (call.kind === 'beat') return ` (holds ${call.body?.holding.length ?? '?'})`;
  if (call.kind !== 'turn' || call.body === null) return '';
  const { room, outcomes, holding } = call.body;
  const parts = [`room ${room}`, ...(outcomes.length > 0 ? [`${outcomes.length} outcomes`] : [])];
  return ` (${[...parts, ...(holding ? [`holding ${holding.length}`] : [])].join(', ')})`;
}
