import { type JobContext, type JobDefinition, Snooze } from '../../core/define.ts';
import type { Outcome } from '../../core/lifecycle.ts';
import { classify } from '../../core/classify.ts';
import { failureOf } from '../../core/failure.ts';
import { resultJson } from '../../core/result.ts';

/** Runs one job to its outcome. Whatever the code of the job does, this answers and never throws. */
export async function runJob(
  definition: JobDefinition | undefined,
  name: string,
  params: unknown,
  ctx: JobContext,
  nowMs: () => number,
): Promise<Outcome> {
  if (!definition) return failure('NO_HANDLER', `this worker has no ${name}`);
  try {
    const checked = await checkedParams(definition, params);
    if (!checked.ok) return failure('PAYLOAD_INVALID', checked.message);
    const result = resultJson(await definition.run(checked.params as never, ctx));
    if (!result.ok) return failure(result.code, result.message);
    return { kind: 'success', resultJson: result.json };
  } catch (error) {
    if (error instanceof Snooze) return { kind: 'snoozed', delayMs: error.delayMs };
    return { kind: 'failure', ...classify(error, nowMs()) };
  }
}

/** Params were checked when the job was made, perhaps by an older schema. Now they must fit. */
async function checkedParams(
  definition: JobDefinition,
  params: unknown,
): Promise<{ ok: true; params: unknown } | { ok: false; message: string }> {
  if (!definition.schema) return { ok: true, params };
  const result = await definition.schema['~standard'].validate(params);
  if (!result.issues) return { ok: true, params: result.value };
  const shown = result.issues.slice(0, 5).map(({ message, path = [] }) => {
    const place = path.map((part) => String(keyOf(part))).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return { ok: false, message: `params do not fit the schema: ${shown.join('; ')}` };
}

function keyOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'key' in part ? part.key : part;
}

function failure(code: Parameters<typeof failureOf>[0], message: string): Outcome {
  return { kind: 'failure', error: failureOf(code, message), retryAfterMs: null };
}
