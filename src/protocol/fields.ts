import { z } from 'zod';
import { BATCH_KEY } from '../core/batch/batch.ts';
import { KEY_SHAPE } from '../core/definition/definition.ts';
import { hookOwner } from '../core/definition/hooks.ts';
import { isJobId } from '../core/job/job-id.ts';
import { idPart } from '../core/job/short-id.ts';
import { readSearch } from '../core/search/search.ts';
import { unknownName } from '../core/values/nearest.ts';

/**
 * Field types of the API. Each type has one message that describes valid values, whichever rule was
 * broken.
 */
interface RawIssue {
  readonly input?: unknown;
}

export function says(sentence: string): { error: (issue: RawIssue) => string } {
  return { error: ({ input }) => (input === undefined ? 'is required' : sentence) };
}

export function whole(min: number, max: number) {
  const right = says(`must be a whole number from ${min} to ${max}`);
  return z.int(right).min(min, right).max(max, right);
}

/** Numbers in a query string are digits. */
export function wholeInQuery(min: number, max: number) {
  const asNumber = (value: unknown) =>
    typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return z.preprocess(asNumber, whole(min, max));
}

export function number(min: number, max: number) {
  const right = says(`must be a number from ${min} to ${max}`);
  return z.number(right).min(min, right).max(max, right);
}

export function flag() {
  return z.boolean(says('must be true or false'));
}

/**
 * PostgreSQL text cannot contain NUL or half a surrogate pair; other control characters break logs.
 */
export function text(max: number) {
  const right = says(`must be text of 1 to ${max} characters without control characters`);
  return z
    .string(right)
    .min(1, right)
    .max(max, right)
    .refine((value) => !/[\p{Cc}\p{Cs}]/u.test(value), right);
}

/** The beginning or the end of a job id, as its hex digits. */
export function jobIdPart() {
  const right = says('must be 4 to 32 hex digits of the beginning or the end of a job id');
  return z
    .string(right)
    .max(36, right)
    .refine((value) => idPart(value) !== null, right)
    .transform((value) => idPart(value) ?? '');
}

export function jobId() {
  const right = says('must be a job id');
  return z.string(right).refine(isJobId, right);
}

/** A text in the search language. */
export function searchText(max: number) {
  return text(max).superRefine((value, { addIssue }) => {
    const reading = readSearch(value);
    if ('problem' in reading) addIssue(reading.problem);
  });
}

export function definitionKey() {
  const right = says('must be 1 to 200 letters, digits and . _ : / -, a letter or digit first');
  return z.string(right).regex(KEY_SHAPE, right);
}

/** Keys to search for: hook jobs have a key that no definition can have. */
export function searchedKey() {
  const right = says(
    'must be the key of a definition, like image.resize, $hook:image.resize or $batch',
  );
  const fits = (key: string) => key === BATCH_KEY || KEY_SHAPE.test(hookOwner(key) ?? key);
  return z.string(right).refine(fits, right);
}

/** A time with offset, since a bare local time is ambiguous. */
export function instant() {
  const right = says(
    'must be a time from 1970 on in ISO 8601 with an offset, like 2026-01-31T08:00:00Z ' +
      '(in a URL write + as %2B)',
  );
  return z.iso
    .datetime({ offset: true, ...right })
    .refine((moment) => Date.parse(moment) >= 0, right)
    .transform((moment) => new Date(moment));
}

export function oneOf<const Names extends readonly string[]>(
  what: string,
  names: Names,
  otherwise = `must be one of ${names.join(', ')}`,
) {
  const error = ({ input }: RawIssue) => {
    if (input === undefined) return 'is required';
    return typeof input === 'string' ? unknownName(what, input, names) : otherwise;
  };
  return z.enum(names, { error });
}

/** The length is checked before the entries, to bound the cost of a long invalid list. */
export function list<Item extends z.ZodType>(item: Item, min: number, max: number) {
  const sentence = `must be a list of ${min} to ${max} entries`;
  const right = says(sentence);
  return z.preprocess(
    (value, context) => {
      if (Array.isArray(value) && value.length > max) context.addIssue(sentence);
      return value;
    },
    z.array(item, right).min(min, right).max(max, right),
  );
}

/**
 * The body that the API reference offers first. Not `examples`, which zod drops from schemas with a
 * transformation; the generator of the document understands this name.
 */
export function exampleBody(value: object) {
  return { 'x-examples': { example: { value } } };
}

/**
 * An object that rejects unknown fields. Zod reports them as one issue whose message contains the
 * known names; `violations.ts` makes one message per field with the nearest name.
 */
export function closed<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: ({ code, input, inst }) => {
      // Read from the object, which may have been extended.
      if (code === 'unrecognized_keys') return Object.keys((inst as z.ZodObject).shape).join(' ');
      return input === undefined ? 'is required' : 'must be an object';
    },
  });
}
