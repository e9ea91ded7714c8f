import { largeNote } from '../../core/large/large-value.ts';
import { printableJson } from '../../core/values/printable.ts';

/** A text of at most this length, which says how much is missing. */
export function clamp(text: string, max: number): string {
  if (text.length <= max) return text;
  // Does not end in half of a surrogate pair.
  const kept = text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}… [truncated: ${(text.length - kept.length).toLocaleString('en')} more characters]`;
}

/** A small value as it is; a large one as the beginning of its JSON. */
export function clampJson(value: unknown, max: number): unknown {
  const json = printableJson(value);
  return json.length <= max ? value : clamp(json, max);
}

/** Params or a result; a large one only with its size. */
export function shownValue(
  value: unknown,
  large: { bytes: number } | undefined,
  max: number,
): unknown {
  return large ? largeNote(large) : clampJson(value, max);
}
