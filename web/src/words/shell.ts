import type { JobView } from '../../../src/core/job/job.ts';

/** Quotes a word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Enqueues the same job again: definition, params, priority and tags. */
export function curlFor(job: JobView, address: string): string {
  const body = {
    definitionKey: job.definitionKey,
    // Version 0 is not decided yet.
    ...(job.definitionVersion !== 0 && { definitionVersion: job.definitionVersion }),
    params: job.params,
    ...(isOlder(job) && { paramsShape: job.paramsShape }),
    ...(job.priority !== 0 && { priority: job.priority }),
    ...(job.tags.length > 0 && { tags: job.tags }),
  };
  return [
    `curl -sS ${shellWord(`${address}/v1/jobs`)}`,
    `-H 'content-type: application/json'`,
    `-d ${shellWord(JSON.stringify(body))}`,
  ].join(' ');
}

/** The code of today would take its params for those of today. */
function isOlder({ paramsShape, currentParamsShape }: JobView): boolean {
  return currentParamsShape !== null && paramsShape < currentParamsShape;
}

export function cliFor(job: JobView, address: string): string {
  return [
    'npx longshore enqueue',
    shellWord(job.definitionKey),
    shellWord(JSON.stringify(job.params)),
    ...(isOlder(job) ? [`--params-shape ${job.paramsShape}`] : []),
    ...urlFlag(address),
  ].join(' ');
}

/** Runs the job on the machine of the user, with the code of a folder there. */
export function replayFor({ jobId }: JobView, address: string): string {
  return ['npx longshore replay', jobId, '--jobs ./jobs', ...urlFlag(address)].join(' ');
}

/** Default URL of the CLI. */
const USUAL = 'http://127.0.0.1:4400';

export function urlFlag(address: string): string[] {
  return address === USUAL ? [] : ['--url', shellWord(address)];
}
