import type { DefinitionPolicy } from './definition.ts';
import { LIMIT_NAMES } from '../queue/limits.ts';

/** The policy of a definition, by name: in code, and in the manifest of a deployment. */
export const POLICY_FIELDS = [
  'key',
  'version',
  'owner',
  'description',
  'runbookUrl',
  'maxAttempts',
  'timeoutSeconds',
  'stallTimeoutMs',
  'retry',
  'retryOn',
  'cancelGraceMs',
  'maxInterruptions',
  'isolation',
  'memoryMb',
  'redact',
  ...LIMIT_NAMES,
  'schedule',
] as const satisfies readonly (keyof DefinitionPolicy)[];

/** Second names of some fields, in code only. */
const ALIASES = [
  'defaultMaxAttempts',
  'concurrencyLimitPerKey',
] as const satisfies readonly (keyof DefinitionPolicy)[];

type Listed = (typeof POLICY_FIELDS)[number] | (typeof ALIASES)[number];

/** The options of `defineJob` and `defineCommand`, except for the code. No field may be missing. */
export const POLICY_OPTIONS: readonly (Exclude<keyof DefinitionPolicy, Listed> extends never
  ? Listed
  : never)[] = [...POLICY_FIELDS, ...ALIASES];
