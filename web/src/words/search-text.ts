import { isJobId } from '../../../src/core/job/job-id.ts';

/** What the search field above the jobs understands. */
export interface Wanted {
  definitionKey?: string;
  tag?: string;
  errorCode?: string;
  /** A text in the params, or in the message of the latest failure. */
  q?: string;
}

export type Reading = { jobId: string } | { wanted: Wanted } | { wrong: string };

const NAMES = { definition: 'definitionKey', tag: 'tag', code: 'errorCode' } as const;

/**
 * `definition:mail tag:nightly code:TIMEOUT "in the params"`; a bare word is a definition, and a job
 * id leads to its job.
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
    else return { wrong: `only one definition at a time: “${word}” is too much, or wants quotes` };
  }
  if (wanted.q === '') return { wrong: 'write a text between the quotes' };
  if (Object.values(wanted).includes('')) return { wrong: 'write a value after the colon' };
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
