import { InvalidArgumentError } from 'commander';
import { JOB_STATES, type JobState } from '../core/job.ts';
import { unknownName } from '../core/nearest.ts';

/** Parsers of option values; what they throw, commander words as a usage error. */

export function whole(value: string): number {
  if (!/^-?\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

/** Seconds, with or without a fraction, as milliseconds. */
export function secondsAsMs(value: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('It must be a number of seconds.');
  return Math.round(seconds * 1_000);
}

export function rate(value: string): number {
  const perSecond = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(perSecond)) throw new InvalidArgumentError('It must be a number.');
  return perSecond;
}

export function eachOf(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** May be repeated, and may list several with commas. */
export function states(value: string, before: JobState[] | undefined): JobState[] {
  const typed = value.split(',').map((name) => name.trim());
  for (const name of typed) {
    if (!(JOB_STATES as readonly string[]).includes(name)) {
      throw new InvalidArgumentError(unknownName('status', name, JOB_STATES));
    }
  }
  return [...(before ?? []), ...(typed as JobState[])];
}
