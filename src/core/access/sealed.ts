/**
 * The stored form of an encrypted value: `{"$sealed":"<key id>.<nonce>.<ciphertext and tag>"}`. It
 * is JSON, so it takes the place of the value, and statements that copy values (params and results
 * into the params of hooks, a delivery into a redelivery) need no key. Readers decrypt it at the
 * top level, or in a field of an object that SQL built; nothing puts it deeper.
 *
 * The name is reserved: params, results, steps and checkpoints that contain it are refused, whether
 * encryption is on or not.
 */
export const SEALED = '$sealed';

/** The start of an envelope as text; no other JSON of ours starts like this. */
const BEGIN = `{"${SEALED}":"`;
const SEAL = /^([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

export interface Seal {
  keyId: string;
  /** Base64url, like `box`. */
  nonce: string;
  box: string;
}

/** The value cannot be decrypted: its key is missing, or the value was altered. */
export class CannotOpen extends Error {
  override name = 'CannotOpen';
}

export function envelopeText({ keyId, nonce, box }: Seal): string {
  return `${BEGIN}${keyId}.${nonce}.${box}"}`;
}

export function isEnvelopeText(json: string): boolean {
  return json.startsWith(BEGIN);
}

/** A cheap check that rules out most values: whether this text may hold an envelope. */
export function mayHoldEnvelope(json: string): boolean {
  return json.includes(`"${SEALED}"`);
}

/** The content of an envelope; null when the value is not one. */
export function contentOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, SEALED)) return null;
  return String((value as Record<string, unknown>)[SEALED]);
}

export function parseSeal(content: string): Seal {
  if (content.startsWith('@')) throw new CannotOpen('it is a large value, which is not here');
  const [, keyId, nonce, box] = SEAL.exec(content) ?? [];
  if (!keyId || !nonce || !box) throw new CannotOpen('the encrypted value is damaged');
  return { keyId, nonce, box };
}

/** Envelopes anywhere in a JSON text of ours. Inside a string their quotes would be escaped. */
const ENVELOPES = /\{"\$sealed":"([A-Za-z0-9_-]{1,32})\.[^"]+"\}/g;

/** The key id of each envelope in this text. */
export function keyIdsIn(json: string): string[] {
  return [...json.matchAll(ENVELOPES)].map(([, keyId = '']) => keyId);
}

/** Replaces all envelopes except those of this key. */
export function replaceOthers(
  json: string,
  keyId: string,
  replace: (envelope: string) => string,
): string {
  return json.replaceAll(ENVELOPES, (envelope, id: string) =>
    id === keyId ? envelope : replace(envelope),
  );
}

/** Replaces the envelopes of a value; returns the value itself when it has none. */
export function replaceEnvelopes(value: unknown, open: (content: string) => unknown): unknown {
  const content = contentOf(value);
  if (content !== null) return open(content);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([, inner]) => contentOf(inner) !== null);
  if (fields.length === 0) return value;
  const opened = fields.map(([name, inner]) => [name, open(contentOf(inner) ?? '')] as const);
  return { ...value, ...Object.fromEntries(opened) };
}

/** Whether JSON from outside uses the reserved name, in any spelling. */
export function namesSealed(json: string): boolean {
  if (!json.includes(SEALED) && !json.includes('\\u')) return false;
  const pending: unknown[] = [JSON.parse(json)];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, SEALED)) return true;
    for (const inner of Object.values(value) as unknown[]) pending.push(inner);
  }
  return false;
}
