import type { JobView } from '../../../src/core/job/job.ts';

/** A word that a shell takes as it is, whatever it holds. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Starts the same job again: same definition, same params, and what was said beside them. */
export function curlFor(job: JobView, address: string): string {
  const body = {
    definitionKey: job.definitionKey,
    definitionVersion: job.definitionVersion,
    params: job.params,
    ...(job.priority !== 0 && { priority: job.priority }),
    ...(job.tags.length > 0 && { tags: job.tags }),
  };
  return [
    `curl -sS ${shellWord(`${address}/v1/jobs`)}`,
    `-H 'content-type: application/json'`,
    `-d ${shellWord(JSON.stringify(body))}`,
  ].join(' ');
}

export function cliFor(job: JobView, address: string): string {
  return [
    'longshore enqueue',
    shellWord(job.definitionKey),
    shellWord(JSON.stringify(job.params)),
    ...urlFlag(address),
  ].join(' ');
}

/** The command line looks there by itself. */
const USUAL = 'http://127.0.0.1:4400';

export function urlFlag(address: string): string[] {
  return address === USUAL ? [] : ['--url', shellWord(address)];
}
