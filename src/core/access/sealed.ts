/**
 * What an encrypted value looks like at rest: `{"$sealed":"<key id>.<nonce>.<ciphertext and tag>"}`. It
 * is JSON itself, so it stands wherever the value stood, and statements that copy values (the params and
 * the result of a job into the params of its hooks, what was sent into a redelivery) copy it as it is,
 * without a key. Whoever reads opens it: at the top, or in a field of an object that SQL has put
 * together; nowhere deeper, because nothing puts one there.
 *
 * For that to be sure, nobody else may write this name: params, results, steps and checkpoints that
 * have it anywhere are refused, whether encryption is on or not.
 */
export const SEALED = '$sealed';

/** How an envelope begins as text; no other JSON of ours does. */
const BEGIN = `{"${SEALED}":"`;
const SEAL = /^([A-Za-z0-9_-]{1,32})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/;

export interface Seal {
  keyId: string;
  /** These two in base64url. */
  nonce: string;
  box: string;
}

/** It is encrypted and cannot be opened here: its key is missing, or it is not what was sealed. */
export class CannotOpen extends Error {
  override name = 'CannotOpen';
}

export function envelopeText({ keyId, nonce, box }: Seal): string {
  return `${BEGIN}${keyId}.${nonce}.${box}"}`;
}

export function isEnvelopeText(json: string): boolean {
  return json.startsWith(BEGIN);
}

/** A quick look that most values pass: whether there can be an envelope in this text of ours. */
export function mayHoldEnvelope(json: string): boolean {
  return json.includes(`"${SEALED}"`);
}

/** What is in an envelope; null when the value is none. */
export function contentOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, SEALED)) return null;
  return String((value as Record<string, unknown>)[SEALED]);
}

export function parseSeal(content: string): Seal {
  const [, keyId, nonce, box] = SEAL.exec(content) ?? [];
  if (!keyId || !nonce || !box) throw new CannotOpen('it was encrypted, and is damaged');
  return { keyId, nonce, box };
}

/** Envelopes wherever they stand in a text of ours. In a string their quotes would be escaped. */
const ENVELOPES = /\{"\$sealed":"([A-Za-z0-9_-]{1,32})\.[^"]+"\}/g;

/** The ids of the keys that the envelopes in this text were sealed with, one for each. */
export function keyIdsIn(json: string): string[] {
  return [...json.matchAll(ENVELOPES)].map(([, keyId = '']) => keyId);
}

/** The text with its envelopes replaced, but for those of this key. */
export function replaceOthers(
  json: string,
  keyId: string,
  replace: (envelope: string) => string,
): string {
  return json.replaceAll(ENVELOPES, (envelope, id: string) =>
    id === keyId ? envelope : replace(envelope),
  );
}

/** The value with its envelopes replaced; the value itself when it has none. */
export function replaceEnvelopes(value: unknown, open: (content: string) => unknown): unknown {
  const content = contentOf(value);
  if (content !== null) return open(content);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([, inner]) => contentOf(inner) !== null);
  if (fields.length === 0) return value;
  const opened = fields.map(([name, inner]) => [name, open(contentOf(inner) ?? '')] as const);
  return { ...value, ...Object.fromEntries(opened) };
}

/** Whether a JSON text from outside has the name that is ours, however it spells it. */
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
