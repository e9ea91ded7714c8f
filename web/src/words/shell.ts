import type { JobView } from '../../../src/core/job/job.ts';
import { shellWord } from '../../../src/core/views/shell-word.ts';

export { shellWord };

/** Where a copied command goes. */
export interface Destination {
  /** The URL of the server. */
  address: string;
  /** Null means that of the key, which a command need not name. */
  tenant: string | null;
}

/** Enqueues the same job again: definition, params, priority and tags. */
export function curlFor(job: JobView, { address, tenant }: Destination): string {
  const body = {
    definitionKey: job.definitionKey,
    // Version 0 is not decided yet.
    ...(job.definitionVersion !== 0 && { definitionVersion: job.definitionVersion }),
    params: job.params,
    ...(isOlder(job) && { paramsShape: job.paramsShape }),
    ...(job.priority !== 0 && { priority: job.priority }),
    ...(job.tags.length > 0 && { tags: job.tags }),
  };
  const query = tenant === null ? '' : `?${new URLSearchParams({ tenant })}`;
  return [
    `curl -sS ${shellWord(`${address}/v1/jobs${query}`)}`,
    `-H 'content-type: application/json'`,
    `-d ${shellWord(JSON.stringify(body))}`,
  ].join(' ');
}

/** The code of today would take its params for those of today. */
function isOlder({ paramsShape, currentParamsShape }: JobView): boolean {
  return currentParamsShape !== null && paramsShape < currentParamsShape;
}

export function cliFor(job: JobView, to: Destination): string {
  return [
    'npx longshore enqueue',
    shellWord(job.definitionKey),
    shellWord(JSON.stringify(job.params)),
    ...(isOlder(job) ? [`--params-shape ${job.paramsShape}`] : []),
    ...globalFlags(to),
  ].join(' ');
}

/** Runs the job on the machine of the user, with the code of a folder there. */
export function replayFor({ jobId }: JobView, to: Destination, folder: string | null): string {
  const jobs = shellWord(folder ?? './jobs');
  return ['npx longshore replay', jobId, '--jobs', jobs, ...globalFlags(to)].join(' ');
}

function globalFlags({ address, tenant }: Destination): string[] {
  return [...urlFlag(address), ...(tenant === null ? [] : ['--tenant', shellWord(tenant)])];
}

/** Default URL of the CLI. */
const USUAL = 'http://127.0.0.1:4400';

export function urlFlag(address: string): string[] {
  return address === USUAL ? [] : ['--url', shellWord(address)];
}
