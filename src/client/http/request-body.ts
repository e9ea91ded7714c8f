import type { BatchEntry, EnqueueOptions, JobRef } from '../job.ts';

/** A job as the body of a request, without undefined fields. */
export function requestBody({ definition, params, options = {} }: Asked): JobBody {
  refuseUndefined(definition);
  const { key, version, paramsShape } =
    typeof definition === 'string'
      ? { key: definition, version: undefined, paramsShape: undefined }
      : definition;
  const { signal: _signal, definitionVersion = version, scheduledAt, after, ...others } = options;
  const rest =
    others.runAt === undefined ? { ...others, runAt: scheduledAt } : { ...others, scheduledAt };
  const body: JobBody = { definitionKey: key };
  const fields = { params, definitionVersion, paramsShape, after: after?.map(idOf), ...rest };
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) body[name] = value instanceof Date ? value.toISOString() : value;
  }
  return body;
}

function idOf(job: JobRef, index: number): string {
  const id: unknown = typeof job === 'string' ? job : (job as { id?: unknown } | null)?.id;
  if (typeof id === 'string') return id;
  throw new TypeError(`after[${index}] is no id or handle of a job: is an await missing?`);
}

/** What an import of a name that its file does not export gives in JavaScript. */
export function refuseUndefined(definition: unknown): void {
  if (definition !== undefined && definition !== null) return;
  throw new TypeError(`definition is ${String(definition)}: is it exported under this name?`);
}

type Asked = Omit<BatchEntry, 'options'> & { options?: EnqueueOptions | undefined };
type JobBody = Record<string, unknown>;
