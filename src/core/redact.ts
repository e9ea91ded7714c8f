/**
 * Keeps secrets out of what is shown: the one serializer of the API, of live streams, and so of the SDK,
 * the CLI and the dashboard, which all show what the API answers. A value is secret by the name of its
 * field (`password`, `apiKey`, `accessToken`, …) or because its definition says so (`redact:
 * ['card.number']`). And a secret that was found in the params is looked for in what the job said: in
 * errors, events and log lines, where jobs repeat what they were given.
 */
export const REDACTED = '[redacted]';

/** Anywhere in a name. */
const SECRET = /pass(word|wd|phrase|code)|secret|authorization|credential|(api|private|access)key/;
/** Only at its end: `tokens` are counted and `cardNumberLength` is no number of a card. */
const SECRET_END = /(token|cookie|pwd|cardnumber|cvc|cvv|iban|ssn|otp)$/;

/** Shorter ones are found everywhere by chance. */
const MASKED_LENGTH_MIN = 6;
const MASKED_LINE_MIN = 16;
/** Each is looked for in each line, by processes that have other things to do. */
const MASKED_MAX = 256;
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

/** A path fits wherever its names follow each other; places in lists do not count. */
type Paths = readonly (readonly string[])[];

export class Redactor {
  readonly #paths: Paths;
  /** The longest first: one may be the beginning of another. */
  #secrets: readonly string[] = [];

  /** The params of a job tell what its errors and log lines must not repeat. */
  constructor(paths: readonly string[] = [], params?: unknown) {
    this.#paths = paths.map((path) => path.split('.'));
    const secrets = new Set<string>();
    if (params !== undefined) this.#walk(params, [], (secret) => learn(secret, secrets));
    this.#secrets = [...secrets].sort((one, other) => other.length - one.length);
  }

  /** A copy in which every secret reads `[redacted]`; the value itself when it has none. */
  value(value: unknown): unknown {
    return this.#walk(value, [], () => undefined);
  }

  /** A text without the secrets that were in the params. */
  text(text: string): string {
    let masked = text;
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, REDACTED);
    return masked;
  }

  #walk(
    value: unknown,
    trail: readonly string[],
    found: (secret: unknown) => void,
    depth = 0,
  ): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEPTH_MAX) return REDACTED;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#walk(item, trail, found, depth + 1));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    const copy: Record<string, unknown> = {};
    let changed = false;
    for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
      const here = [...trail, name];
      const secret = this.#isSecret(here, inner);
      if (secret) found(inner);
      const shown = secret ? REDACTED : this.#walk(inner, here, found, depth + 1);
      // A plain assignment to `__proto__` would set something else.
      Object.defineProperty(copy, name, { ...FIELD, value: shown });
      changed ||= shown !== inner;
    }
    return changed ? copy : value;
  }

  /** That there is a secret is none: `null`, `true` and `false` are shown. */
  #isSecret(trail: readonly string[], value: unknown): boolean {
    if (value === null || typeof value === 'boolean') return false;
    return isSecretName(trail.at(-1) ?? '') || this.#paths.some((path) => endsWith(trail, path));
  }
}

/** What is below a secret is secret, too. */
function learn(secret: unknown, secrets: Set<string>): void {
  if (typeof secret === 'object' && secret !== null) {
    for (const inner of Object.values(secret)) learn(inner, secrets);
    return;
  }
  const text = String(secret);
  if (text.length < MASKED_LENGTH_MIN || secrets.size >= MASKED_MAX) return;
  // Jobs print JSON, too; and what has many lines, such as a private key, arrives line by line.
  secrets.add(text).add(JSON.stringify(text).slice(1, -1));
  for (const line of text.split('\n').slice(0, MASKED_MAX)) {
    if (line.length >= MASKED_LINE_MIN) secrets.add(line);
  }
}

const FIELD = { writable: true, enumerable: true, configurable: true };

function endsWith(trail: readonly string[], path: readonly string[]): boolean {
  const from = trail.length - path.length;
  return from >= 0 && path.every((name, at) => name === '*' || name === trail[from + at]);
}
