import type { JobError } from '../../core/job/job.ts';
import { redactError } from '../../core/access/redact-views.ts';
import { Redactor } from '../../core/access/redact.ts';

/**
 * Masks the secrets of the params, and the secrets that the job was given, in everything an attempt
 * reports (lines, progress, events, errors) before it is stored, because jobs repeat their input: a
 * failed client prints the request with its token. Only secrets of at least six characters are
 * replaced. The search is by value, so a secret that was encoded, split or came from elsewhere is
 * not found.
 *
 * The search starts with the first report; most jobs never need it.
 */
export class Mask {
  readonly #paths: readonly string[];
  readonly #paramsJson: string;
  readonly #secrets: readonly string[];
  #made: Redactor | undefined;

  constructor(
    paths: readonly string[],
    paramsJson: string,
    secrets: Readonly<Record<string, string>> = {},
  ) {
    this.#paths = paths;
    this.#paramsJson = paramsJson;
    this.#secrets = Object.values(secrets);
  }

  text(text: string): string {
    return this.#redactor.text(text);
  }

  error(error: JobError): JobError {
    return redactError(error, this.#redactor);
  }

  /** By value only: fields with secret names are redacted when they are shown. */
  json(json: string): string {
    return masked(json, this.#redactor);
  }

  /**
   * Only the secrets that the job was given: those of the params are redacted when the result is
   * shown, but nothing then knows these.
   */
  result(json: string): string {
    return masked(json, new Redactor([], undefined, this.#secrets));
  }

  get #redactor(): Redactor {
    this.#made ??= new Redactor(this.#paths, JSON.parse(this.#paramsJson), this.#secrets);
    return this.#made;
  }
}

function masked(json: string, redactor: Redactor): string {
  if (redactor.text(json) === json) return json;
  return JSON.stringify(redactor.byValue(JSON.parse(json)));
}
