import { duration } from '../../../../src/core/values/duration.ts';
import { sentenceCase } from './job-words.ts';

/** A field of a result, for people. */
export type ResultFact = { name: string } & (
  { text: string } | { moment: string } | { facts: ResultFact[] } | { json: unknown }
);

const FIELDS_MAX = 40;
const DEPTH_MAX = 3;
const WORDS = /^[a-z]+(?:[A-Z][a-z0-9]*)*$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Null if the result is better shown as JSON: no object, an empty one, or a very large one. */
export function resultFacts(result: unknown): ResultFact[] | null {
  return factsOf(result, 1);
}

function factsOf(value: unknown, depth: number): ResultFact[] | null {
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return null;
  const entries = Object.entries(value).filter(([, inner]) => !isEmpty(inner));
  if (entries.length === 0 || entries.length > FIELDS_MAX) return null;
  const number = (name: string) => (Array.isArray(value) ? String(Number(name) + 1) : name);
  return entries.map(([name, inner]) => factOf(number(name), inner, depth));
}

function factOf(name: string, value: unknown, depth: number): ResultFact {
  // A list of one needs no numbers.
  if (Array.isArray(value) && value.length === 1) return factOf(name, value[0], depth);
  if (typeof value === 'number' && name.endsWith('Ms')) {
    return { name: label(name.slice(0, -2)), text: duration(value) };
  }
  const named = { name: label(name) };
  if (typeof value === 'number') return { ...named, text: String(value) };
  if (typeof value === 'boolean') return { ...named, text: value ? 'yes' : 'no' };
  if (typeof value === 'string') {
    return INSTANT.test(value) ? { ...named, moment: value } : { ...named, text: value };
  }
  const facts = factsOf(value, depth + 1);
  return facts ? { ...named, facts } : { ...named, json: value };
}

function isEmpty(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

/** `deliveryId` is "Delivery id". A name that is not in camel case stays as it is. */
function label(name: string): string {
  if (!WORDS.test(name)) return name;
  return sentenceCase(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
}
