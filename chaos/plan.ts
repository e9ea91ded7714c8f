import { faultOf } from './faults/catalogue.ts';
import type { Random } from './random.ts';

/** How often each kind of fault comes; a plan holds exactly these, in an order made by chance. */
export type Deck = Readonly<Record<string, number>>;

/** The same mix for a run of another length; no kind is left out. */
export function scaled(deck: Deck, factor: number): Deck {
  const entries = Object.entries(deck);
  return Object.fromEntries(
    entries.map(([kind, count]) => [kind, Math.max(1, Math.round(count * factor))]),
  );
}

export interface PlannedFault {
  atMs: number;
  kind: string;
  holdMs: number;
  /** In [0, 1): chooses the target among those that there are at that moment. */
  pick: number;
}

export interface Decks {
  /** Dealt out while the servers start. */
  startUp: Deck;
  startUpMs: number;
  /** Dealt out over the rest of the time. */
  deck: Deck;
}

/** The plan of a whole run. Its time begins when the first server is started. */
export function planRun(decks: Decks, durationMs: number, random: Random): PlannedFault[] {
  const { startUp, startUpMs, deck } = decks;
  const later = planFaults(deck, durationMs - startUpMs, random);
  return [
    ...planFaults(startUp, startUpMs, random),
    ...later.map((planned) => ({ ...planned, atMs: planned.atMs + startUpMs })),
  ];
}

/**
 * Spreads a deck over a time: the gaps between faults differ, and since most of them last longer than
 * a gap, there are often two or three at once. The same seed makes the same plan.
 */
export function planFaults(deck: Deck, durationMs: number, random: Random): PlannedFault[] {
  const kinds = random.shuffled(
    Object.entries(deck).flatMap(([kind, count]) => Array.from({ length: count }, () => kind)),
  );
  const gaps = kinds.map(() => 0.4 + random.next() * 1.2);
  const scale = durationMs / gaps.reduce((sum, gap) => sum + gap, 0);
  let atMs = 0;
  return kinds.map((kind, index) => {
    const [min, max] = faultOf(kind).holdMs;
    const planned = { atMs: Math.round(atMs), kind, holdMs: random.int(min, max) };
    atMs += (gaps[index] ?? 0) * scale;
    return { ...planned, pick: random.next() };
  });
}
