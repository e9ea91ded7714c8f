import type {
  CatchUp,
  DstGap,
  DstRepeat,
  Overlap,
  ScheduleView,
} from '../../../../src/core/schedule/schedule.ts';
import { SCHEDULE_DEFAULTS } from '../../../../src/core/schedule/schedule.ts';
import { fieldTime, timeOfField } from '../charts/field-time.ts';

/** A schedule as typed into the form, without its params. */
export interface ScheduleDraft {
  name: string;
  cron: string;
  timezone: string;
  overlap: Overlap;
  catchUp: CatchUp;
  catchUpHours: string;
  catchUpMax: string;
  dstGap: DstGap;
  dstRepeat: DstRepeat;
  jitterSeconds: string;
  priority: string;
  /** As `<input type="datetime-local">` has it, in the time zone of the dashboard. */
  startAt: string;
  endAt: string;
}

export const POLICY_WORDS: {
  overlap: Record<Overlap, string>;
  catchUp: Record<CatchUp, string>;
  dstGap: Record<DstGap, string>;
  dstRepeat: Record<DstRepeat, string>;
} = {
  overlap: {
    allow: 'start the next job anyway',
    skip: 'skip the run',
    'queue-one': 'start one job after it ends',
  },
  catchUp: {
    latest: 'run once, for the latest',
    all: 'run all of them',
    none: 'skip them',
  },
  dstGap: { shift: 'run immediately after', skip: 'skip the run' },
  dstRepeat: { once: 'run once', twice: 'run twice' },
};

const HOUR_MS = 3_600_000;

export function draftOf(schedule: ScheduleView | null, timezone: string): ScheduleDraft {
  const from = schedule ?? { ...SCHEDULE_DEFAULTS, name: null, cron: '0 3 * * *', timezone };
  const { overlap, catchUp, dstGap, dstRepeat } = from;
  return {
    name: from.name ?? '',
    cron: from.cron,
    timezone: from.timezone,
    overlap,
    catchUp,
    dstGap,
    dstRepeat,
    catchUpHours: String(from.catchUpWindowMs / HOUR_MS),
    catchUpMax: String(from.catchUpMax),
    jitterSeconds: String(from.jitterMs / 1_000),
    priority: String(from.priority),
    startAt: fieldOfTime(from.startAt),
    endAt: fieldOfTime(from.endAt),
  };
}

/** Null means that a text is no number or no time; `field` says which. */
export type Body = { body: Record<string, unknown> } | { field: string; wrong: string };

/** The fields of the request that differ from the defaults or, for a change, from before. */
export function bodyOf(draft: ScheduleDraft, before: ScheduleDraft | null): Body {
  const body: Record<string, unknown> = {};
  for (const name of Object.keys(draft) as (keyof ScheduleDraft)[]) {
    if (before !== null && draft[name] === before[name]) continue;
    const read = FIELDS[name](draft[name].trim());
    if (read === null) return { field: name, wrong: WRONG[name] ?? 'is invalid' };
    Object.assign(body, read);
  }
  return { body };
}

type Read = (text: string) => Record<string, unknown> | null;

const number =
  (name: string, factor = 1): Read =>
  (text) => {
    const value = Math.round(Number(text) * factor);
    return text === '' || !Number.isFinite(value) ? null : { [name]: value };
  };

const time =
  (name: string): Read =>
  (text) => {
    if (text === '') return { [name]: null };
    const at = timeOfField(text);
    return at && { [name]: at.toISOString() };
  };

const FIELDS: Record<keyof ScheduleDraft, Read> = {
  name: (text) => ({ name: text === '' ? null : text }),
  cron: (text) => (text === '' ? null : { cron: text }),
  timezone: (text) => (text === '' ? null : { timezone: text }),
  overlap: (text) => ({ overlap: text }),
  catchUp: (text) => ({ catchUp: text }),
  dstGap: (text) => ({ dstGap: text }),
  dstRepeat: (text) => ({ dstRepeat: text }),
  catchUpHours: number('catchUpWindowMs', HOUR_MS),
  catchUpMax: number('catchUpMax'),
  jitterSeconds: number('jitterMs', 1_000),
  priority: number('priority'),
  startAt: time('startAt'),
  endAt: time('endAt'),
};

const WRONG: Partial<Record<keyof ScheduleDraft, string>> = {
  cron: 'Enter a cron expression.',
  timezone: 'Enter a time zone.',
  catchUpHours: 'Enter a number.',
  catchUpMax: 'Enter a number.',
  jitterSeconds: 'Enter a number.',
  priority: 'Enter a number.',
};

/** The field of the form that an error of the server is about, by the name in the API. */
export function fieldOf(pointer: string): string {
  const name = pointer.replace(/^\//, '');
  if (name === 'catchUpWindowMs') return 'catchUpHours';
  return name === 'jitterMs' ? 'jitterSeconds' : name;
}

function fieldOfTime(at: string | Date | null): string {
  return at === null ? '' : fieldTime(new Date(at));
}
