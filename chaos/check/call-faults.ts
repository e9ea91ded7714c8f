/** The calls of a remote worker that are mistreated, as in the names of faults, and as words. */
export const CALLS = { turn: 'turn', beat: 'heartbeat', say: 'report' } as const;

/** What happens to a call, as in the names of faults, and how a run says that it happened. */
export const MISHAPS = {
  lost: (call: string) => `a ${call} was lost`,
  cut: (call: string) => `the answer to a ${call} was lost`,
  half: (call: string) => `half of the answer to a ${call} arrived`,
  twice: (call: string) => `a ${call} arrived twice`,
  delay: (call: string) => `a ${call} was delayed`,
  slow: (call: string) => `the answer to a ${call} was delayed`,
  late: (call: string) => `a ${call} arrived late`,
} as const;

export type CallName = keyof typeof CALLS;
export type Mishap = keyof typeof MISHAPS;

export interface CallFault {
  kind: `${CallName}-${Mishap}`;
  call: CallName;
  mishap: Mishap;
  /** How a run says that it happened. */
  seen: string;
}

/** Every mishap of every call. */
export const CALL_FAULTS: readonly CallFault[] = (Object.keys(CALLS) as CallName[]).flatMap(
  (call) =>
    (Object.keys(MISHAPS) as Mishap[]).map((mishap) => ({
      kind: `${call}-${mishap}` as const,
      call,
      mishap,
      seen: MISHAPS[mishap](CALLS[call]),
    })),
);

/** A heartbeat that is held up leaves little of a lease of 3 s; a lost one is repeated at once. */
const HOLD_UP_BEATS = ['beat-delay', 'beat-slow'];

/** Those that cost neither a lease nor an attempt. */
export const HARMLESS_CALL_FAULTS = CALL_FAULTS.map(({ kind }) => kind).filter(
  (kind) => !HOLD_UP_BEATS.includes(kind),
);
