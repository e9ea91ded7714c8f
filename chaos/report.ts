import type { Verdict } from './check/check.ts';
import type { Facts } from './check/facts.ts';
import { covered } from './check/free-slots.ts';
import { isOwnDoing, reasonOutside } from './check/invariants/safety/explained.ts';
import { SOMETIMES } from './check/invariants/liveness/sometimes.ts';
import type { JobRecord } from './check/job-records.ts';

export interface Spread {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

/** How long rescued jobs waited for a worker, by what kept the workers from taking them. */
export interface Waits {
  /** Every healthy worker ran as many jobs as it has slots. */
  allBusy: number;
  /** No worker was healthy: the database, or each of them, was disturbed. */
  noneHealthy: number;
  /** A healthy worker had a free slot: the part that Longshore answers for (L12). */
  slotFree: Spread;
}

/** What a run amounts to, in figures. */
export interface Figures {
  acknowledged: number;
  unknown: number;
  jobs: number;
  faults: number;
  faultsByKind: Record<string, number>;
  databaseKills: number;
  lost: number;
  doubleEnds: number;
  staleAccepted: number;
  staleRefused: number;
  reexecutions: Record<string, number>;
  /** From the last sign of life of a lost worker until its job could be claimed again. */
  rescueMs: Spread;
  /** Until it was claimed, which also depends on what else was waiting. */
  reclaimMs: Spread;
  /** What it waited for, from claimable to claimed, in all rescues together. */
  waitedMs: Waits;
  sometimes: Record<string, number>;
}

const DATABASE_KILLS = ['postmaster-kill', 'everything-kill'];
const SHOWN_VIOLATIONS = 40;

export function figuresOf({ facts, violations }: Verdict): Figures {
  const { enqueues, records, faults, history } = facts;
  const ok = enqueues.filter(({ result }) => result === 'ok');
  const injected = faults.windows.filter(({ observed }) => !observed);
  const rescued = [...records.values()].flatMap((record) => rescues(facts, record));
  const broken = (id: string) =>
    new Set(violations.filter(({ invariant }) => invariant === id).map(({ job }) => job)).size;
  return {
    acknowledged: new Set(ok.flatMap(({ jobs }) => jobs.map(({ id }) => id))).size,
    unknown: enqueues.filter(({ result }) => result === 'unknown').length,
    jobs: records.size,
    faults: injected.length,
    faultsByKind: counted(injected.map(({ kind }) => kind)),
    databaseKills: injected.filter(({ kind }) => DATABASE_KILLS.includes(kind)).length,
    lost: broken('S1'),
    doubleEnds: broken('S5'),
    staleAccepted: broken('S7'),
    staleRefused: history.notices.filter(({ what }) => what === 'stale-refused').length,
    reexecutions: counted(reexecutions(facts)),
    rescueMs: spread(rescued.map(({ backMs }) => backMs)),
    reclaimMs: spread(rescued.flatMap(({ claimedMs }) => claimedMs ?? [])),
    waitedMs: waitsOf(facts, rescued),
    sometimes: Object.fromEntries(
      Object.entries(SOMETIMES).map(([name, look]) => [name, look(facts)]),
    ),
  };
}

export function reportOn(verdict: Verdict): string {
  const { facts, violations } = verdict;
  const { run } = facts.history;
  const figures = figuresOf(verdict);
  const { rescueMs } = figures;
  return [
    '',
    `seed ${run.seed}, profile ${run.profile}, commit ${run.commit}, Node ${run.versions['node']}`,
    `${count(figures.acknowledged)} jobs acknowledged, ${figures.faults} faults of ` +
      `${Object.keys(figures.faultsByKind).length} kinds, ${figures.databaseKills} database kill -9:`,
    `  ${figures.lost} lost, ${figures.doubleEnds} double completions, ` +
      `${figures.staleAccepted} stale writes accepted, ${figures.staleRefused} stale outcomes refused`,
    `  ${rescueMs.count} rescues, from the last sign of life of a worker: claimable again after ` +
      `${inWords(rescueMs)}; claimed again after ${inWords(figures.reclaimMs)}`,
    `  between claimable and claimed they waited ${count(figures.waitedMs.allBusy)} ms for a slot, ` +
      `${count(figures.waitedMs.noneHealthy)} ms while no worker was healthy; ` +
      `while a slot was free ${inWords(figures.waitedMs.slotFree)}`,
    `  ${count(figures.unknown)} requests of unknown result, ` +
      `${figures.sometimes['an enqueue of unknown result had been stored']} of them had been stored`,
    '',
    'faults',
    ...table(figures.faultsByKind),
    'executions that were followed by another, by reason',
    ...table(figures.reexecutions),
    'seen',
    ...table(figures.sometimes),
    ...Object.entries(run.skipped).map(([kind, reason]) => `left out: ${kind}, ${reason}`),
    '',
    violations.length === 0 ? 'Every promise was kept.' : `${violations.length} violations:`,
    ...violations
      .slice(0, SHOWN_VIOLATIONS)
      .map(({ invariant, job, text }) => `  ${invariant} ${job ? `job ${job} ` : ''}${text}`),
    '',
  ].join('\n');
}

/** Why each execution that was not the last of its job was followed by another. */
function reexecutions(facts: Facts): string[] {
  return [...facts.records.values()].flatMap(({ executions }) =>
    executions.slice(0, -1).map((execution) => {
      if (isOwnDoing(execution)) return 'what the job itself did';
      return reasonOutside(facts, execution) ?? 'no reason';
    }),
  );
}

function rescues({ instances }: Facts, { claims }: JobRecord) {
  return claims.flatMap(({ ending, end, worker }, index) => {
    const lastBeat = instances.get(worker)?.beats.at(-1)?.at;
    if (ending?.errorCode !== 'LEASE_EXPIRED' || !end || lastBeat === undefined) return [];
    const next = claims[index + 1];
    const claimedMs = next ? (next.at - lastBeat) / 1_000 : null;
    const waited = next ? { from: end.at, until: next.at } : null;
    return [{ backMs: (end.at - lastBeat) / 1_000, claimedMs, waited }];
  });
}

function waitsOf({ freeSlots }: Facts, rescued: ReturnType<typeof rescues>): Waits {
  const waits = rescued.flatMap(({ waited }) => {
    if (!waited) return [];
    const healthy = covered(waited, freeSlots.healthy) / 1_000;
    const free = covered(waited, freeSlots.free) / 1_000;
    return [{ busy: healthy - free, free, none: (waited.until - waited.from) / 1_000 - healthy }];
  });
  const sum = (values: number[]) => Math.round(values.reduce((a, b) => a + b, 0));
  return {
    allBusy: sum(waits.map(({ busy }) => busy)),
    noneHealthy: sum(waits.map(({ none }) => none)),
    slotFree: spread(waits.map(({ free }) => free)),
  };
}

function inWords({ p50, p99, max }: Spread): string {
  return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
}

function spread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([, a], [, b]) => b - a));
}

function table(counts: Record<string, number>): string[] {
  return Object.entries(counts).map(([name, value]) => `  ${count(value).padStart(7)}  ${name}`);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
