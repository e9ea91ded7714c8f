/** A user, as the identity provider names it. `subject` is unique for the issuer and never changes. */
export interface SsoUser {
  issuer: string;
  subject: string;
  name: string | null;
  email: string | null;
}

export type Claims = Readonly<Record<string, unknown>>;

const TEXT_MAX = 200;

export function userOf(issuer: string, subject: string, claims: Claims): SsoUser {
  const name = textOf(claims['name']) ?? textOf(claims['preferred_username']);
  // Some providers let users enter any address.
  const email = claims['email_verified'] === false ? null : textOf(claims['email']);
  return { issuer, subject, name, email };
}

/** For the audit log: readable, and unambiguous by the subject, which the user cannot choose. */
export function userActor({ subject, name, email }: Pick<SsoUser, 'subject' | 'name' | 'email'>) {
  const label = email ?? name;
  return label === null || label === subject ? `user:${subject}` : `user:${label} (${subject})`;
}

/**
 * The groups in the claims; null when the claim is missing. `claim` is the name of a claim, or a
 * path such as `realm_access.roles`.
 */
export function groupsIn(claims: Claims, claim: string): string[] | null {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : atPath(claims, claim.split('.'));
  if (typeof value === 'string') return [value];
  if (!Array.isArray(value)) return null;
  return value.filter((group) => typeof group === 'string');
}

function atPath(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return atPath((value as Record<string, unknown>)[name], rest);
}

/** Control characters would break the lines of logs. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').trim();
  return text === '' ? null : text.slice(0, TEXT_MAX);
}
