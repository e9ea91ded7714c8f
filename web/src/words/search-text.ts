import { isJobId } from '../../../src/core/job-id.ts';

/** What the search field above the jobs understands. */
export interface Wanted {
  definitionKey?: string;
  tag?: string;
}

export type Reading = { jobId: string } | { wanted: Wanted } | { wrong: string };

/** `definition:mail tag:nightly`; a bare word is a definition, and a job id leads to its job. */
export function readSearch(text: string): Reading {
  const words = text.trim().split(/\s+/).filter(Boolean);
  const [only] = words;
  if (words.length === 1 && only !== undefined && isJobId(only.toLowerCase())) {
    return { jobId: only.toLowerCase() };
  }
  const wanted: Wanted = {};
  for (const word of words) {
    const [, name, value = ''] = /^(definition|tag):(.*)$/.exec(word) ?? [];
    if (name === 'tag') wanted.tag = value;
    else if (name === 'definition') wanted.definitionKey = value;
    else if (wanted.definitionKey === undefined) wanted.definitionKey = word;
    else return { wrong: `only one definition at a time: “${word}” is too much` };
  }
  if (Object.values(wanted).includes('')) return { wrong: 'write a value after the colon' };
  return { wanted };
}

export function writeSearch({ definitionKey, tag }: Wanted): string {
  return [definitionKey, ...(tag === undefined ? [] : [`tag:${tag}`])]
    .filter((word) => word !== undefined)
    .join(' ');
}
