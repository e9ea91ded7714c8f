import type { StandardSchema } from '../core/definition/define.ts';
import type { JobState } from '../core/job/job.ts';
import { escapePointer } from '../core/job/params.ts';
import { unknownName } from '../core/values/nearest.ts';
import { strictJson } from '../core/values/strict-json.ts';
import type { ProblemDetail } from './http/errors.ts';
import type { DefinitionRef, EnqueueOptions, JobReceipt } from './job.ts';
import type { OptionNames } from './http/known-options.ts';
import { problemError } from './http/problems.ts';
import { refuseUndefined, requestBody } from './http/request-body.ts';
import { callEnqueue, type Transaction } from './transaction.ts';

/** `longshore.enqueue` does not take these. */
type NotInSql = 'signal' | 'requireRegistered' | 'after' | 'onParentFailure';

export interface EnqueueInOptions extends Omit<EnqueueOptions, NotInSql> {
  /** The owner of the job; by default `default`. */
  tenant?: string | undefined;
}

const NOT_IN_SQL: Record<NotInSql, true> = {
  signal: true,
  requireRegistered: true,
  after: true,
  onParentFailure: true,
};
const OPTIONS: OptionNames<EnqueueInOptions> = {
  definitionVersion: true,
  paramsShape: true,
  priority: true,
  maxAttempts: true,
  idempotencyKey: true,
  concurrencyKey: true,
  runAt: true,
  scheduledAt: true,
  delayMs: true,
  hold: true,
  timeoutSeconds: true,
  retry: true,
  tags: true,
  unique: true,
  expiresAt: true,
  skipValidation: true,
  tenant: true,
};

/** The job exists if and only if the transaction commits. */
export interface EnqueueInReceipt extends JobReceipt {
  /** False when an earlier job is returned, because of the idempotency key or a unique key. */
  created: boolean;
}

type Arguments<Input> = undefined extends Input
  ? [params?: Input, options?: EnqueueInOptions]
  : [params: Input, options?: EnqueueInOptions];

type Definition<Input> = DefinitionRef<Input> & { readonly schema?: StandardSchema | null };

/**
 * Enqueues a job in the caller's transaction, which must be on Longshore's database. The SQL
 * function makes all checks of the API, except the schema of the params, which is code: it is
 * checked here, before anything is sent.
 */
export async function enqueueIn(
  tx: Transaction,
  key: string,
  params?: unknown,
  options?: EnqueueInOptions,
): Promise<EnqueueInReceipt>;
export async function enqueueIn<Input>(
  tx: Transaction,
  definition: Definition<Input>,
  ...args: Arguments<NoInfer<Input>>
): Promise<EnqueueInReceipt>;
export async function enqueueIn(
  tx: Transaction,
  definition: Definition<unknown> | string,
  params?: unknown,
  options: EnqueueInOptions = {},
): Promise<EnqueueInReceipt> {
  refuseUndefined(definition);
  refuseOptions(options);
  const { paramsShape } = options;
  // The schema is that of the shape of the definition.
  const isOwn =
    typeof definition !== 'string' &&
    (paramsShape ?? definition.paramsShape) === definition.paramsShape;
  if (isOwn && definition.schema && !options.skipValidation) {
    await refuseMisfit(definition.schema, params === undefined ? {} : params);
  }
  const body = strictJson(requestBody({ definition, params, options }));
  try {
    const { jobId, status, created } = await callEnqueue(tx, body);
    return { jobId: String(jobId), status: status as JobState, created: created === true };
  } catch (error) {
    throw asProblem(error);
  }
}

/** PostgreSQL knows no nearest name, and says only that an option is unknown. */
function refuseOptions(options: EnqueueInOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(OPTIONS, name)) continue;
    const detail = Object.hasOwn(NOT_IN_SQL, name)
      ? 'not possible in a transaction'
      : unknownName('field', name, Object.keys(OPTIONS));
    const pointer = `/${escapePointer(name)}`;
    const errors = [{ pointer, detail }];
    throw problemError(400, 'VALIDATION_FAILED', `${pointer}: ${detail}`, errors);
  }
}

/** Params are stored as given; the transformations of the schema are applied when the job runs. */
async function refuseMisfit(schema: StandardSchema, params: unknown): Promise<void> {
  const { issues } = await schema['~standard'].validate(params);
  if (!issues) return;
  const errors = issues.map(({ message, path = [] }) => ({
    pointer: `/params${path.map((step) => `/${escapePointer(nameOf(step))}`).join('')}`,
    detail: message,
  }));
  const detail = errors.map((one) => `${one.pointer}: ${one.detail}`).join('; ');
  throw problemError(400, 'PAYLOAD_INVALID', detail, errors);
}

function nameOf(step: unknown): string {
  return String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step);
}

const REFUSALS: Record<string, [status: number, code: string]> = {
  LS400: [400, 'VALIDATION_FAILED'],
  LS409: [409, 'IDEMPOTENCY_CONFLICT'],
  LS413: [413, 'PAYLOAD_TOO_LARGE'],
  LS422: [400, 'PAYLOAD_INVALID'],
};

const NO_SUCH_SCHEMA = '3F000';
const NO_LONGSHORE =
  'this database has no Longshore: start a server on it, or run longshore migrate';

/**
 * Converts a refusal of the function to the error of the API; other errors are returned as they
 * are.
 */
function asProblem(error: unknown): unknown {
  for (const one of layersOf(error)) {
    const code = String(one['code'] ?? one['originalCode']);
    if (code === NO_SUCH_SCHEMA) return new Error(NO_LONGSHORE, { cause: error });
    const known = REFUSALS[code];
    if (!known) continue;
    // Knex puts the statement before the message.
    const said = String(one['originalMessage'] ?? one['message']).replace(/^select .*?\) - /, '');
    const at = said.indexOf(': ');
    const errors: ProblemDetail[] = [{ pointer: said.slice(0, at), detail: said.slice(at + 2) }];
    return problemError(...known, said, errors);
  }
  return error;
}

/** Drizzle wraps the driver's error as its cause, Prisma puts it into its metadata. */
function layersOf(error: unknown): Record<string, unknown>[] {
  const layers: Record<string, unknown>[] = [];
  for (let next = error; typeof next === 'object' && next !== null && layers.length < 8;) {
    const layer = next as Record<string, unknown>;
    layers.push(layer);
    const facts = layer['meta'] as Record<string, unknown> | undefined;
    next = layer['cause'] ?? facts?.['driverAdapterError'];
  }
  return layers;
}
