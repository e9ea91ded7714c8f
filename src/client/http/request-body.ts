import type { BatchEntry, EnqueueOptions } from '../job.ts';

/** A job as the body of a request, without undefined fields. */
export function requestBody({ definition, params, options = {} }: Asked): JobBody {
  refuseUndefined(definition);
  const { key, version, paramsShape } =
    typeof definition === 'string'
      ? { key: definition, version: undefined, paramsShape: undefined }
      : definition;
  const { signal: _signal, definitionVersion = version, scheduledAt, ...others } = options;
  const rest =
    others.runAt === undefined ? { ...others, runAt: scheduledAt } : { ...others, scheduledAt };
  const body: JobBody = { definitionKey: key };
  for (const [name, value] of Object.entries({ params, definitionVersion, paramsShape, ...rest })) {
    if (value !== undefined) body[name] = value instanceof Date ? value.toISOString() : value;
  }
  return body;
}

/** What an import of a name that its file does not export gives in JavaScript. */
export function refuseUndefined(definition: unknown): void {
  if (definition !== undefined && definition !== null) return;
  throw new TypeError(`definition is ${String(definition)}: is it exported under this name?`);
}

type Asked = Omit<BatchEntry, 'options'> & { options?: EnqueueOptions | undefined };
type JobBody = Record<string, unknown>;
