import type { QueryResultRow } from 'pg';
import { Calendar } from '../../src/schedule/calendar.ts';
import { timingOf } from './zone-oracle.ts';

type Sql = <Row extends QueryResultRow>(text: string, values?: unknown[]) => Promise<Row[]>;

export interface SlotAudit {
  schedules: number;
  slots: number;
  fired: number;
  collapsed: number;
  /** Sentences, each about a slot that was lost, doubled, or differs from its jobs. */
  faults: string[];
}

interface Row extends QueryResultRow {
  schedule_id: string;
  at: Date;
  job_id: string | null;
}

/**
 * Holds what was written down to what should have been: from its first slot to the one that is next,
 * each slot of each schedule has exactly one row, and each that fired exactly one job that names it.
 * By id and instant, never by count: a doubled slot must not make up for a lost one.
 */
export async function auditSlots(sql: Sql): Promise<SlotAudit> {
  const schedules = await sql<{ id: string; cron: string; timezone: string; next_at: Date }>(
    'select id, cron, timezone, next_at from longshore.schedule',
  );
  const slots = await sql<Row & { status: string }>(
    'select schedule_id, slot_at as at, job_id, status from longshore.slot',
  );
  const jobs = await sql<Row>(
    'select schedule_id, scheduled_for as at, id as job_id from longshore.job',
  );
  const slotsBySchedule = Map.groupBy(slots, (row) => row.schedule_id);
  const faults: string[] = [];
  for (const { id, cron, timezone, next_at: next } of schedules) {
    const rows = (slotsBySchedule.get(id) ?? []).map(({ at }) => at.toISOString()).sort();
    const expected = expectedSlots(cron, timezone, rows[0], next);
    faults.push(...differences(`slot of "${cron}" ${id}`, rows, expected));
  }
  const fired = slots.filter(({ status }) => status === 'fired');
  faults.push(...differences('job', jobs.map(named), fired.map(named)));
  const collapsed = slots.filter(({ status }) => status === 'collapsed').length;
  return {
    schedules: schedules.length,
    slots: slots.length,
    fired: fired.length,
    collapsed,
    faults,
  };
}

function expectedSlots(
  cron: string,
  timezone: string,
  first: string | undefined,
  next: Date,
): string[] {
  if (first === undefined) return [];
  const calendar = new Calendar(timingOf(cron, timezone));
  const expected: string[] = [];
  let slot = calendar.after(Date.parse(first) - 1);
  for (; slot && slot.atMs < next.getTime(); slot = calendar.next(slot)) {
    expected.push(new Date(slot.atMs).toISOString());
  }
  return expected;
}

function named({ schedule_id: schedule, at, job_id: job }: Row): string {
  return `${schedule} ${at.toISOString()} ${job}`;
}

function differences(
  what: string,
  found: readonly string[],
  expected: readonly string[],
): string[] {
  const counts = new Map<string, number>();
  for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1);
  const wanted = new Set(expected);
  return [
    ...expected.filter((one) => !counts.has(one)).map((one) => `lost ${what}: ${one}`),
    ...[...counts].filter(([, n]) => n > 1).map(([one]) => `doubled ${what}: ${one}`),
    ...[...counts.keys()].filter((one) => !wanted.has(one)).map((one) => `extra ${what}: ${one}`),
  ];
}
