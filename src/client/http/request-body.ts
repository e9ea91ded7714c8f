import type { BatchEntry, EnqueueOptions } from '../job.ts';

/** A job as the body of a request, without undefined fields. */
export function requestBody({ definition, params, options = {} }: Asked): JobBody {
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

type Asked = Omit<BatchEntry, 'options'> & { options?: EnqueueOptions | undefined };
type JobBody = Record<string, unknown>;
