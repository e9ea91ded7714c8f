import { TextSearch } from '../values/text-search.ts';

/**
 * Keeps secrets out of API answers and live streams, and so out of the SDK, the CLI and the
 * dashboard. A value is secret by the name of its field (`password`, `apiKey`, `accessToken`, …) or
 * because its definition lists it (`redact: ['card.number']`). Secrets found in the params are also
 * masked in the errors, events and log lines of the job.
 */
export const REDACTED = '[redacted]';

/** Matched anywhere in a name. */
const SECRET = /pass(word|wd|phrase|code)|secret|authorization|credential|(api|private|access)key/;
/**
 * Matched at the end of a name only: `tokens` is a count, and `cardNumberLength` is not a card
 * number.
 */
const SECRET_END = /(token|cookie|pwd|cardnumber|cvc|cvv|iban|ssn|otp)$/;

/** Shorter values would match by chance. */
export const MASKED_LENGTH_MIN = 6;
const MASKED_LINE_MIN = 16;
/** The most secrets to search for, and their total length in characters (`text-search.ts`). */
const MASKED_MAX = 256;
const MASKED_CHARS_MAX = 262_144;
const DEPTH_MAX = 200;
const NAMES_MAX = 10_000;
const judged = new Map<string, boolean>();

export function isSecretName(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const secret = SECRET.test(plain) || SECRET_END.test(plain);
  if (judged.size >= NAMES_MAX) judged.clear();
  if (name.length <= 200) judged.set(name, secret);
  return secret;
}

/** A path matches wherever its names follow each other; list indexes are ignored. */
type Paths = readonly (readonly string[])[];

export class Redactor {
  readonly #paths: Paths;
  /** Null when the params hold no secret. */
  #secrets: TextSearch | null = null;

  /**
   * The params of the job hold the values to mask in its errors and log lines; so are the secrets
   * that it was given.
   */
  constructor(paths: readonly string[] = [], params?: unknown, given: readonly string[] = []) {
    this.#paths = paths.map((path) => path.split('.'));
    if (params === undefined && given.length === 0) return;
    const known = { secrets: new Set<string>(), variants: new Set<string>() };
    learn(given, known);
    this.#walk(params, [], (secret) => learn(secret, known));
    if (known.secrets.size === 0) return;
    this.#secrets = new TextSearch([...known.secrets, ...known.variants], MASKED_CHARS_MAX);
  }

  /** A copy with every secret replaced by `[redacted]`; the value itself when it has none. */
  value(value: unknown): unknown {
    return this.#walk(value, [], () => undefined);
  }

  /** The text without the secrets of the params. */
  text(text: string): string {
    return this.#secrets === null ? text : this.#secrets.replace(text, REDACTED);
  }

  /** A copy with only the secrets of the params masked, whatever the field names. */
  byValue(value: unknown): unknown {
    return this.#secrets === null ? value : this.#walk(value, null, () => undefined);
  }

  #walk(
    value: unknown,
    trail: readonly string[] | null,
    found: (secret: unknown) => void,
    depth = 0,
  ): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.#number(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEPTH_MAX) return REDACTED;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#walk(item, trail, found, depth + 1));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const copy: Record<string, unknown> = {};
    let changed = false;
    for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
      const here = trail && [...trail, name];
      const secret = here !== null && this.#isSecret(here, inner);
      if (secret) found(inner);
      const shown = secret ? REDACTED : this.#walk(inner, here, found, depth + 1);
      // Assigning to `__proto__` would set the prototype.
      const shownName = this.text(name);
      Object.defineProperty(copy, shownName, { ...FIELD, value: shown });
      changed ||= shown !== inner || shownName !== name;
    }
    return changed ? copy : value;
  }

  #number(value: number): unknown {
    if (this.#secrets === null) return value;
    const text = String(value);
    return this.text(text) === text ? value : REDACTED;
  }

  /** `null`, `true` and `false` are not secret. */
  #isSecret(trail: readonly string[], value: unknown): boolean {
    if (value === null || typeof value === 'boolean') return false;
    return isSecretName(trail.at(-1) ?? '') || this.#paths.some((path) => endsWith(trail, path));
  }
}

/** Everything below a secret is secret. */
function learn(secret: unknown, known: { secrets: Set<string>; variants: Set<string> }): void {
  if (typeof secret === 'object' && secret !== null) {
    for (const inner of Object.values(secret)) learn(inner, known);
    return;
  }
  const text = String(secret);
  if (text.length < MASKED_LENGTH_MIN || known.secrets.size >= MASKED_MAX) return;
  known.secrets.add(text);
  // Jobs print JSON, and a multi-line secret such as a private key is logged line by line.
  const escaped = JSON.stringify(text).slice(1, -1);
  if (escaped !== text) known.variants.add(escaped);
  if (!text.includes('\n') || known.variants.size >= 2 * MASKED_MAX) return;
  for (const line of text.split('\n', MASKED_MAX)) {
    if (line.length >= MASKED_LINE_MIN) known.variants.add(line);
  }
}

const FIELD = { writable: true, enumerable: true, configurable: true };

function endsWith(trail: readonly string[], path: readonly string[]): boolean {
  const from = trail.length - path.length;
  return from >= 0 && path.every((name, at) => name === '*' || name === trail[from + at]);
}
