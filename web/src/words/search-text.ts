import { isJobId } from '../../../src/core/job/job-id.ts';

/** A parsed search. */
export interface Wanted {
  definitionKey?: string;
  tag?: string;
  errorCode?: string;
  /** Text in the params or in the latest error message. */
  q?: string;
}

export type Reading = { jobId: string } | { wanted: Wanted } | { wrong: string };

const NAMES = { definition: 'definitionKey', tag: 'tag', code: 'errorCode' } as const;

/**
 * `definition:mail tag:nightly code:TIMEOUT "in the params"`; a bare word is a definition key, a
 * job id opens its job.
 */
export function readSearch(text: string): Reading {
  const words = text.match(/"[^"]*"?|\S+/g) ?? [];
  const [only] = words;
  if (words.length === 1 && only !== undefined && isJobId(only.toLowerCase())) {
    return { jobId: only.toLowerCase() };
  }
  const wanted: Wanted = {};
  for (const word of words) {
    const [, name, value = ''] = /^(definition|tag|code):(.*)$/.exec(word) ?? [];
    if (name !== undefined) wanted[NAMES[name as keyof typeof NAMES]] = value;
    else if (word.startsWith('"')) wanted.q = word.replaceAll('"', '');
    else if (wanted.definitionKey === undefined) wanted.definitionKey = word;
    else
      return { wrong: `only one definition at a time; put “${word}” in quotes to search for text` };
  }
  if (wanted.q === '') return { wrong: 'enter text between the quotes' };
  if (Object.values(wanted).includes('')) return { wrong: 'enter a value after the colon' };
  return { wanted };
}

export function writeSearch({ definitionKey, tag, errorCode, q }: Wanted): string {
  return [
    definitionKey,
    tag === undefined ? undefined : `tag:${tag}`,
    errorCode === undefined ? undefined : `code:${errorCode}`,
    q === undefined ? undefined : `"${q}"`,
  ]
    .filter((word) => word !== undefined)
    .join(' ');
}
