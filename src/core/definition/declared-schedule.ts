import { PRIORITY_MAX } from './definition.ts';
import { unknownName } from '../values/nearest.ts';
import { checkParams } from '../job/params.ts';
import {
  CATCH_UP_MAX_MAX,
  CATCH_UP_WINDOW_MS_MAX,
  CATCH_UPS,
  CRON_LENGTH_MAX,
  DST_GAPS,
  DST_REPEATS,
  JITTER_MS_MAX,
  OVERLAPS,
  SCHEDULE_DEFAULTS,
  SCHEDULE_NAME_MAX,
  type ScheduleSpec,
} from '../schedule/schedule.ts';

/**
 * Schedules in the code of a definition: `schedule: '0 3 * * *'`, an object, or a list of named
 * objects. This file checks their shape. The worker that syncs them to the database validates the
 * expression.
 */
export interface ScheduleDeclaration {
  cron: string;
  /** Required when there are several; identifies the schedule. */
  name?: string | undefined;
  timezone?: string | undefined;
  params?: unknown;
  priority?: number | undefined;
  startAt?: Date | string | undefined;
  endAt?: Date | string | undefined;
  jitterMs?: number | undefined;
  dstGap?: ScheduleSpec['dstGap'] | undefined;
  dstRepeat?: ScheduleSpec['dstRepeat'] | undefined;
  catchUp?: ScheduleSpec['catchUp'] | undefined;
  catchUpWindowMs?: number | undefined;
  catchUpMax?: number | undefined;
  overlap?: ScheduleSpec['overlap'] | undefined;
}

export type ScheduleInput = string | ScheduleDeclaration | readonly ScheduleDeclaration[];

/** The published form: plain JSON with every default filled in. */
export interface DeclaredSchedule extends Omit<
  ScheduleSpec,
  'name' | 'definitionKey' | 'definitionVersion' | 'paramsShape' | 'enabled' | 'startAt' | 'endAt'
> {
  name: string;
  startAt: string | null;
  endAt: string | null;
}

const ONLY_ONE = 'default';
const FIELDS = [
  'name',
  'cron',
  'timezone',
  'params',
  'priority',
  'startAt',
  'endAt',
  'jitterMs',
  'dstGap',
  'dstRepeat',
  'catchUp',
  'catchUpWindowMs',
  'catchUpMax',
  'overlap',
];

/** `wrong` builds the error to throw. */
export function declaredSchedules(
  input: ScheduleInput | undefined,
  wrong: (sentence: string) => Error,
): DeclaredSchedule[] {
  if (input === undefined) return [];
  const list = Array.isArray(input) ? (input as unknown[]) : [input];
  const read = list.map((one) => readOne(one, list.length === 1, wrong));
  const names = read.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw wrong(`schedule: the name "${twice}" occurs twice`);
  return read;
}

function readOne(input: unknown, alone: boolean, wrong: (sentence: string) => Error) {
  const given = typeof input === 'string' ? { cron: input } : input;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw wrong('schedule must be a cron expression, an object, or a list of objects');
  }
  for (const field of Object.keys(given)) {
    if (!FIELDS.includes(field)) throw wrong(unknownName('field of schedule', field, FIELDS));
  }
  const fields = new Fields(given as Record<string, unknown>, wrong);
  const { name = alone ? ONLY_ONE : undefined } = given as { name?: unknown };
  if (typeof name !== 'string' || name === '' || name.length > SCHEDULE_NAME_MAX) {
    throw wrong('schedule: in a list, each schedule needs a name');
  }
  return {
    name,
    cron: fields.text('cron', CRON_LENGTH_MAX),
    timezone: fields.text('timezone', 64, SCHEDULE_DEFAULTS.timezone),
    paramsJson: fields.json('params'),
    priority: fields.whole('priority', -PRIORITY_MAX, PRIORITY_MAX, SCHEDULE_DEFAULTS.priority),
    startAt: fields.time('startAt'),
    endAt: fields.time('endAt'),
    jitterMs: fields.whole('jitterMs', 0, JITTER_MS_MAX, SCHEDULE_DEFAULTS.jitterMs),
    dstGap: fields.oneOf('dstGap', DST_GAPS, SCHEDULE_DEFAULTS.dstGap),
    dstRepeat: fields.oneOf('dstRepeat', DST_REPEATS, SCHEDULE_DEFAULTS.dstRepeat),
    catchUp: fields.oneOf('catchUp', CATCH_UPS, SCHEDULE_DEFAULTS.catchUp),
    catchUpWindowMs: fields.whole(
      'catchUpWindowMs',
      0,
      CATCH_UP_WINDOW_MS_MAX,
      SCHEDULE_DEFAULTS.catchUpWindowMs,
    ),
    catchUpMax: fields.whole('catchUpMax', 1, CATCH_UP_MAX_MAX, SCHEDULE_DEFAULTS.catchUpMax),
    overlap: fields.oneOf('overlap', OVERLAPS, SCHEDULE_DEFAULTS.overlap),
  };
}

/** Reads fields one by one; the error of an invalid field says what is valid. */
class Fields {
  readonly #given: Record<string, unknown>;
  readonly #wrong: (sentence: string) => Error;

  constructor(given: Record<string, unknown>, wrong: (sentence: string) => Error) {
    this.#given = given;
    this.#wrong = wrong;
  }

  text(name: string, max: number, fallback?: string): string {
    const value = this.#given[name] ?? fallback;
    if (typeof value === 'string' && value !== '' && value.length <= max) return value;
    throw this.#wrong(`schedule.${name} must be a string of 1 to ${max} characters`);
  }

  whole(name: string, min: number, max: number, fallback: number): number {
    const value = this.#given[name] ?? fallback;
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) {
      return Number(value);
    }
    throw this.#wrong(`schedule.${name} must be a whole number from ${min} to ${max}`);
  }

  oneOf<Name extends string>(name: string, names: readonly Name[], fallback: Name): Name {
    const value = this.#given[name] ?? fallback;
    const found = names.find((one) => one === value);
    if (found) return found;
    throw this.#wrong(`schedule.${name}: ${unknownName('policy', String(value), names)}`);
  }

  time(name: string): string | null {
    const value = this.#given[name];
    if (value === undefined || value === null) return null;
    const at = value instanceof Date || typeof value === 'string' ? new Date(value) : null;
    if (at && !Number.isNaN(at.getTime())) return at.toISOString();
    throw this.#wrong(`schedule.${name} must be a time`);
  }

  json(name: string): string {
    const value = this.#given[name];
    const checked = checkParams(value === undefined ? {} : value);
    if (checked.ok) return checked.json;
    throw this.#wrong(`schedule.${name}${checked.pointer}: ${checked.detail}`);
  }
}
