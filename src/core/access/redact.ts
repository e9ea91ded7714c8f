import { TextSearch } from '../values/text-search.ts';

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
/** How many are looked for, and how many characters they may have together (`text-search.ts`). */
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

/** A path fits wherever its names follow each other; places in lists do not count. */
type Paths = readonly (readonly string[])[];

export class Redactor {
  readonly #paths: Paths;
  /** Null when there is nothing to look for. */
  #secrets: TextSearch | null = null;

  /** The params of a job tell what its errors and log lines must not repeat. */
  constructor(paths: readonly string[] = [], params?: unknown) {
    this.#paths = paths.map((path) => path.split('.'));
    if (params === undefined) return;
    const known = { secrets: new Set<string>(), variants: new Set<string>() };
    this.#walk(params, [], (secret) => learn(secret, known));
    if (known.secrets.size === 0) return;
    this.#secrets = new TextSearch([...known.secrets, ...known.variants], MASKED_CHARS_MAX);
  }

  /** A copy in which every secret reads `[redacted]`; the value itself when it has none. */
  value(value: unknown): unknown {
    return this.#walk(value, [], () => undefined);
  }

  /** A text without the secrets that were in the params. */
  text(text: string): string {
    return this.#secrets === null ? text : this.#secrets.replace(text, REDACTED);
  }

  /** A copy in which only those secrets are masked, whatever the names of fields. */
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
      // A plain assignment to `__proto__` would set something else.
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

  /** That there is a secret is none: `null`, `true` and `false` are shown. */
  #isSecret(trail: readonly string[], value: unknown): boolean {
    if (value === null || typeof value === 'boolean') return false;
    return isSecretName(trail.at(-1) ?? '') || this.#paths.some((path) => endsWith(trail, path));
  }
}

/** What is below a secret is secret, too. */
function learn(secret: unknown, known: { secrets: Set<string>; variants: Set<string> }): void {
  if (typeof secret === 'object' && secret !== null) {
    for (const inner of Object.values(secret)) learn(inner, known);
    return;
  }
  const text = String(secret);
  if (text.length < MASKED_LENGTH_MIN || known.secrets.size >= MASKED_MAX) return;
  known.secrets.add(text);
  // Jobs print JSON, too; and what has many lines, such as a private key, arrives line by line.
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
