/** What became of a request, as far as its sender can know. */
export type Answer =
  | { phase: 'ok'; jobs: { id: string; status: string }[] }
  | { phase: 'fail'; status: number; code: string }
  | { phase: 'unknown'; why: string };

const PATIENCE_MS = 2_500;

interface Body {
  jobId?: string;
  status?: string | number;
  jobs?: { jobId: string; status: string }[];
  /** Of a batch. */
  id?: string;
  code?: string;
}

/**
 * Sends one request. Only a 2xx says that it was carried out, and only a 4xx that it was not; after
 * a 5xx, a broken connection or silence it may have been either.
 */
export async function send(
  url: string,
  method: 'GET' | 'POST',
  body?: unknown,
  idempotencyKey?: string,
): Promise<Answer> {
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  };
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said = (await response.json()) as Body;
    if (response.ok) return { phase: 'ok', jobs: jobsIn(said) };
    const { status } = response;
    if (status < 500) return { phase: 'fail', status, code: said.code ?? '' };
    return { phase: 'unknown', why: `${status} ${said.code ?? ''}` };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return { phase: 'unknown', why: String(cause) };
  }
}

/** The jobs that it names; a batch is a job, too. */
function jobsIn({ jobId, id = jobId, status, jobs }: Body): { id: string; status: string }[] {
  if (jobs) return jobs.map((job) => ({ id: job.jobId, status: job.status }));
  return id === undefined ? [] : [{ id, status: String(status) }];
}
