import type { JobView } from '../../src/core/job/job.ts';
import { isTerminal } from '../../src/core/job/job.ts';
import { until } from './until.ts';

/** Plain HTTP, as curl would speak it. */
export async function post(url: string, body: unknown): Promise<{ status: number; body: never }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as never };
}

export async function startJob(
  address: string,
  definitionKey: string,
  params: unknown = {},
  more: Record<string, unknown> = {},
): Promise<string> {
  const answer = await post(`${address}/v1/jobs`, { definitionKey, params, ...more });
  if (answer.status !== 202) throw new Error(`refused: ${JSON.stringify(answer.body)}`);
  return (answer.body as { jobId: string }).jobId;
}

export async function readJob(address: string, jobId: string): Promise<JobView> {
  const response = await fetch(`${address}/v1/jobs/${jobId}`);
  if (response.status !== 200) throw new Error(`job ${jobId}: status ${response.status}`);
  return (await response.json()) as JobView;
}

/** The server may be down for a moment; that is not an answer. */
export async function jobInState(
  address: string,
  jobId: string,
  ...states: string[]
): Promise<JobView> {
  return await until(`job ${jobId} is ${states.join(' or ')}`, async () => {
    const job = await readJob(address, jobId).catch(() => null);
    if (job && isTerminal(job.status) && !states.includes(job.status)) {
      throw new Error(`job ${jobId} ended as ${job.status}: ${JSON.stringify(job.error)}`);
    }
    return job && states.includes(job.status) ? job : null;
  });
}
