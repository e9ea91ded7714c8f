import type { BatchEntry, EnqueueOptions, JobRef } from '../job.ts';

/** A job as the body of a request, without undefined fields. */
export function requestBody({ definition, params, options }: Asked): JobBody {
  refuseUndefined(definition);
  const { key, version, paramsShape } =
    typeof definition === 'string'
      ? { key: definition, version: undefined, paramsShape: undefined }
      : definition;
  const body: JobBody = { definitionKey: key };
  setField(body, 'params', params);
  setField(body, 'definitionVersion', version);
  setField(body, 'paramsShape', paramsShape);
  for (const name in options) {
    if (name === 'signal' || name === 'after' || !Object.hasOwn(options, name)) continue;
    const field = name === 'scheduledAt' && options.runAt === undefined ? 'runAt' : name;
    setField(body, field, options[name as keyof EnqueueOptions]);
  }
  setField(body, 'after', options?.after?.map(idOf));
  return body;
}

function setField(body: JobBody, name: string, value: unknown): void {
  if (value === undefined) return;
  body[name] = value instanceof Date ? value.toISOString() : value;
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
