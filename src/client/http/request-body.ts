import type { BatchEntry, EnqueueOptions } from '../job.ts';

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
    if (name === 'signal' || !Object.hasOwn(options, name)) continue;
    const field = name === 'scheduledAt' && options.runAt === undefined ? 'runAt' : name;
    setField(body, field, options[name as keyof EnqueueOptions]);
  }
  return body;
}

function setField(body: JobBody, name: string, value: unknown): void {
  if (value === undefined) return;
  body[name] = value instanceof Date ? value.toISOString() : value;
}

/** What an import of a name that its file does not export gives in JavaScript. */
export function refuseUndefined(definition: unknown): void {
  if (definition !== undefined && definition !== null) return;
  throw new TypeError(`definition is ${String(definition)}: is it exported under this name?`);
}

type Asked = Omit<BatchEntry, 'options'> & { options?: EnqueueOptions | undefined };
type JobBody = Record<string, unknown>;
