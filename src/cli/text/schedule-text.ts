import { actorWords } from '../../core/identity/actor.ts';
import type { Schedule, Slot, Upcoming } from '../../client/index.ts';
import { columns } from './columns.ts';
import { idCell } from './id-cell.ts';
import { duration } from '../../core/values/duration.ts';
import { printable, printableJson } from '../../core/values/printable.ts';

/** The state of a schedule in one sentence. */
export function scheduleSentence(schedule: Schedule, now: Date): string {
  const { note, nextAt, enabled, paused } = schedule;
  const why = note === null ? '' : `: ${note}`;
  if (!enabled) return `paused${pauseWords(paused, now)}${why}`;
  if (nextAt === null) return `ended: no slots left${why}`;
  return `runs ${distance(nextAt, now)}${why}`;
}

/** ` 5m ago by key:k1: the mail server is down` */
function pauseWords(paused: Schedule['paused'], now: Date): string {
  if (paused === null || paused.by === null) return '';
  const ago = duration(Math.max(0, now.getTime() - Date.parse(paused.since)));
  return ` ${ago} ago by ${actorWords(paused.by)}${paused.reason === null ? '' : `: ${paused.reason}`}`;
}

/** Output of `schedules show`. */
export function scheduleText(schedule: Schedule, now: Date): string[] {
  const { definitionKey, definitionVersion, lastSlot, startAt, endAt } = schedule;
  const version = definitionVersion === null ? 'latest version' : `version ${definitionVersion}`;
  const facts: [name: string, value: string | null][] = [
    ['id', schedule.id],
    ['name', schedule.name],
    ['definition', `${definitionKey}, ${version}`],
    ['cron', `${schedule.cron} (${schedule.timezone})`],
    ['from', startAt],
    ['until', endAt],
    ['jitter', schedule.jitterMs === 0 ? null : duration(schedule.jitterMs)],
    ['dst gap', schedule.dstGap],
    ['dst repeat', schedule.dstRepeat],
    ['catch-up', catchUp(schedule)],
    ['overlap', schedule.overlap],
    ['priority', schedule.priority === 0 ? null : String(schedule.priority)],
    ['params', printableJson(schedule.params)],
    ['source', schedule.source],
    ['next', schedule.nextAt],
    ['last', lastSlot === null ? null : slotSentence(lastSlot)],
  ];
  const known = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return [printable(scheduleSentence(schedule, now)), '', ...columns(known)];
}

function catchUp({ catchUp: policy, catchUpWindowMs, catchUpMax }: Schedule): string {
  const within = `within ${duration(catchUpWindowMs)}`;
  if (policy === 'none') return policy;
  return policy === 'latest' ? `latest ${within}` : `all ${within}, ${catchUpMax} at most`;
}

export function scheduleTable(schedules: readonly Schedule[], now: Date, width: number): string[] {
  const rows = schedules.map((schedule) => [
    idCell(schedule.id, width),
    schedule.name ?? '-',
    schedule.definitionKey,
    schedule.cron,
    schedule.timezone,
    schedule.lastSlot === null ? '-' : resultOf(schedule.lastSlot),
    scheduleSentence(schedule, now),
  ]);
  return columns([['ID', 'NAME', 'DEFINITION', 'CRON', 'ZONE', 'LAST', 'NEXT'], ...rows], width);
}

export function slotTable(slots: readonly Slot[], width: number): string[] {
  const rows = slots.map((slot) => [
    slot.slot,
    slot.local,
    resultOf(slot),
    slot.jobId === null ? '-' : idCell(slot.jobId, width),
    slot.through === null ? (slot.reason ?? '') : `${slot.reason}, up to ${slot.through}`,
  ]);
  return columns([['SLOT', 'LOCAL', 'RESULT', 'JOB', 'REASON'], ...rows], width);
}

export function upcomingTable(next: readonly Upcoming[], now: Date, width: number): string[] {
  const rows = next.map(({ at, offset, note }) => [at, offset, distance(at, now), note ?? '']);
  return columns([['AT', 'OFFSET', 'IN', 'NOTE'], ...rows], width);
}

function slotSentence(slot: Slot): string {
  const reason = slot.reason === null ? '' : ` (${slot.reason})`;
  return `${slot.slot} ${resultOf(slot)}${reason}`;
}

/** For a fired slot, the state of its job. */
function resultOf({ status, jobStatus }: Slot): string {
  return status === 'fired' ? (jobStatus ?? 'fired') : status;
}

function distance(at: string, now: Date): string {
  const leftMs = Date.parse(at) - now.getTime();
  return leftMs <= 0 ? 'now' : `in ${duration(leftMs)}`;
}
