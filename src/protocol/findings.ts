import type { ProblemCode, Violation } from './problem.ts';
import { Refusal } from './refusal.ts';

/** Maximum number of reported violations. */
export const FINDINGS_MAX = 1_000;

/** The first of these that was found is the code of the error. */
const PRECEDENCE = ['VALIDATION_FAILED', 'PAYLOAD_INVALID', 'PAYLOAD_TOO_LARGE'] as const;

export type FindingCode = (typeof PRECEDENCE)[number] & ProblemCode;

/** Collects all violations of a request, to report them at once. */
export class Findings {
  readonly #violations: Violation[] = [];
  readonly #codes = new Set<FindingCode>();

  get any(): boolean {
    return this.#violations.length > 0;
  }

  /** No more violations are collected. */
  get full(): boolean {
    return this.#violations.length >= FINDINGS_MAX;
  }

  add(code: FindingCode, ...violations: readonly Violation[]): void {
    const room = FINDINGS_MAX - this.#violations.length;
    if (violations.length > 0) this.#codes.add(code);
    this.#violations.push(...violations.slice(0, room));
  }

  refusal(said = saidWithPointer): Refusal {
    const code = PRECEDENCE.find((known) => this.#codes.has(known)) ?? 'VALIDATION_FAILED';
    return new Refusal(code, summary(this.#violations, said), { errors: this.#violations });
  }
}

/** The first ones; all of them are in `errors`. */
const SAID_MAX = 5;

export function saidWithPointer({ pointer, detail }: Violation): string {
  return `${pointer === '' ? 'the request' : clip(pointer)}: ${detail}`;
}

function summary(violations: readonly Violation[], said: (one: Violation) => string): string {
  if (violations.length === 0) return 'the request is not valid';
  const first = violations.slice(0, SAID_MAX).map(said);
  const more = violations.length - first.length;
  return `${first.join('; ')}${more > 0 ? ` (and ${more} more)` : ''}`;
}

function clip(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
