/**
 * Secrets of jobs: named values that a tenant stores for one definition or for all of its
 * definitions. Jobs get them as environment variables and as `ctx.secrets`.
 */

/** The scope of a secret that is for all definitions of its tenant. No definition has this key. */
export const ALL_DEFINITIONS = '*';

export const SECRET_BYTES_MAX = 16_384;
/** For one definition, and again for all definitions. Together less than what is searched to mask. */
export const SECRETS_MAX = 50;
export const SECRETS_BYTES_MAX = 65_536;
/** Of one tenant. */
export const TENANT_SECRETS_MAX = 1_000;

/** One secret, as shown by the API, the SDK, the CLI and the dashboard: never with its value. */
export interface SecretView {
  name: string;
  /** Null: for all definitions of the tenant. */
  definitionKey: string | null;
  createdAt: string;
  /** When its value was set last, and by whom. */
  updatedAt: string;
  updatedBy: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
export const SECRET_NAME_RULE =
  'must be the name of an environment variable: 1 to 128 letters, digits and _, no digit first';

/** Variables that decide which code runs, or that Longshore and the sandbox set. */
const RESERVED = new Set(
  `PATH HOME USER LOGNAME SHELL PWD TMPDIR TMP TEMP IFS ENV BASH_ENV SHELLOPTS BASHOPTS TRACEPARENT
   NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED PYTHONPATH PYTHONHOME
   PYTHONSTARTUP PERL5LIB PERL5OPT RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS __PROTO__`.split(/\s+/),
);
const RESERVED_PREFIXES = ['LONGSHORE_', 'LD_', 'DYLD_', 'BASH_FUNC_'];

/** Why a secret cannot have this name; null when it can. */
export function secretNameProblem(name: string): string | null {
  if (!NAME.test(name)) return SECRET_NAME_RULE;
  const upper = name.toUpperCase();
  const prefix = RESERVED_PREFIXES.find((start) => upper.startsWith(start));
  if (prefix !== undefined) return `must not begin with ${prefix}, which is reserved`;
  return RESERVED.has(upper) ? `must not be ${upper}, which is reserved` : null;
}

/** Why a secret cannot have this value, given its size in UTF-8; null when it can. */
export function secretValueProblem(value: string, bytes: number): string | null {
  if (value === '' || bytes > SECRET_BYTES_MAX) {
    return `must be text of 1 to ${SECRET_BYTES_MAX} bytes`;
  }
  // The environment of a process ends a value at NUL.
  if (value.includes('\0')) return 'must not contain NUL';
  return value.isWellFormed() ? null : 'must be valid Unicode';
}

/** What a scope would hold with the new value. The sizes are of values as they are stored. */
export interface SecretCounts {
  ofScope: number;
  bytesOfScope: number;
  ofTenant: number;
}

/** Why there is no room for a secret, given what is there with it; null when there is. */
export function secretRoomProblem({
  ofScope,
  bytesOfScope,
  ofTenant,
}: SecretCounts): string | null {
  if (ofScope > SECRETS_MAX) return `a definition has at most ${SECRETS_MAX} secrets`;
  if (bytesOfScope > SECRETS_BYTES_MAX) {
    return `the secrets of a definition have at most ${SECRETS_BYTES_MAX} bytes together`;
  }
  if (ofTenant > TENANT_SECRETS_MAX) return `a tenant has at most ${TENANT_SECRETS_MAX} secrets`;
  return null;
}

/** The values that a job gets: a secret of its definition comes before one for all definitions. */
export function effectiveSecrets(
  found: readonly { name: string; definitionKey: string | null; value: string }[],
): Record<string, string> {
  const general = found.filter(({ definitionKey }) => definitionKey === null);
  const own = found.filter(({ definitionKey }) => definitionKey !== null);
  return Object.fromEntries([...general, ...own].map(({ name, value }) => [name, value]));
}
