/**
 * What a job of a run does, given in its params. `n` makes the params unique, so that a stored job
 * can be traced to its request.
 */
export interface Script {
  n: string;
  does: Behaviour;
  /** It misbehaves in its first attempts, so many of them. */
  times?: number;
  holdMs?: number;
  /** Takes so long when it is run again: a late word about the first run finds it at work. */
  againMs?: number;
  delayMs?: number;
  pad?: string;
  /** Its first attempt ends the process of its group. */
  crashes?: true;
  /** How many children it spawns. */
  children?: number;
}

/** The params of the children of a job, by its own. */
export function childrenOf({ n, children = 0 }: Pick<Script, 'n' | 'children'>): Script[] {
  return Array.from({ length: children }, (_, at) => ({ n: `${n}/${at + 1}`, does: 'ok' }));
}

export const BEHAVIOURS = [
  'ok',
  'cold', // Like ok, in a process of its own.
  'narrow', // Like ok, and few of them may run at once.
  'grouped', // Like ok, in one call with others.
  'deployed', // Like ok, with the code of a deployment.
  'probe', // Like ok, and sent while no process receives NOTIFY.
  'throw',
  'relapse', // Throws at first; if it was brought back only after a while, it takes long then.
  'retry-after',
  'give-up', // Throws what cannot be retried.
  'slow', // Works for a while, says so all the time, and stops when it is asked to.
  'long', // Like slow, for so long that its worker beats for it in Redis.
  'crash',
  'memory', // Runs out of memory.
  'stall', // Falls silent and idle; only its stall timeout ends it in time.
  'hang', // Never yields; only its time limit ends it.
  'snooze',
  'wait', // Waits for a signal, without a process.
  'sleep', // Sleeps, without a process.
  'spawn', // Has children, and waits for them without a process.
  'poison', // Kills its worker.
] as const;

export type Behaviour = (typeof BEHAVIOURS)[number];
