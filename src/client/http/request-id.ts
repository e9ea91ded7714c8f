import { requestBody } from './request-body.ts';

/** Without an idempotency key of the caller, the request id lets the server recognise a repeat. */
export function namedBody(entry: Parameters<typeof requestBody>[0]): Record<string, unknown> {
  const body = requestBody(entry);
  return body['idempotencyKey'] === undefined ? { requestId: newRequestId(), ...body } : body;
}

/** A UUID of version 7: the server compares its time with its own clock. */
function newRequestId(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${crypto.randomUUID().slice(15)}`;
}

export function namesRequestId({ pointer }: { pointer: string }): boolean {
  return pointer.endsWith('/requestId');
}

/** The clocks of client and server differ by more than a day: a key needs no clock. */
export function withKeys(body: Record<string, unknown>): Record<string, unknown> {
  const { requestId, jobs, ...rest } = body;
  if (Array.isArray(jobs)) return { jobs: jobs.map(withKeys) };
  return requestId === undefined ? body : { idempotencyKey: requestId, ...rest };
}
