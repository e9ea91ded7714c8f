import type { QueryResultRow } from 'pg';
import { Calendar } from '../../../src/schedule/calendar.ts';
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

interface ScheduleRow extends QueryResultRow {
  id: string;
  cron: string;
  timezone: string;
  created_at: Date;
  next_at: Date;
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
  const schedules = await sql<ScheduleRow>(
    'select id, cron, timezone, created_at, next_at from longshore.schedule',
  );
  const slots = await sql<Row & { status: string }>(
    'select schedule_id, slot_at as at, job_id, status from longshore.slot',
  );
  const jobs = await sql<Row>(
    'select schedule_id, scheduled_for as at, id as job_id from longshore.job',
  );
  const slotsBySchedule = Map.groupBy(slots, (row) => row.schedule_id);
  const faults: string[] = [];
  for (const schedule of schedules) {
    const rows = slotsBySchedule.get(schedule.id) ?? [];
    const found = rows.map(({ at }) => at.toISOString()).sort();
    const what = `slot of "${schedule.cron}" ${schedule.id}`;
    faults.push(...differences(what, found, expectedSlots(schedule, found[0])));
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

/** From its birth on, or from its first row: a test may have put it back in time. */
function expectedSlots(schedule: ScheduleRow, first: string | undefined): string[] {
  const { cron, timezone, created_at: bornAt, next_at: next } = schedule;
  const fromMs = Math.min(bornAt.getTime(), first === undefined ? Infinity : Date.parse(first) - 1);
  const calendar = new Calendar(timingOf(cron, timezone));
  const expected: string[] = [];
  let slot = calendar.after(fromMs);
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
