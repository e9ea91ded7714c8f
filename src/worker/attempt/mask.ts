import type { JobError } from '../../core/job/job.ts';
import { redactError } from '../../core/access/redact-views.ts';
import { Redactor } from '../../core/access/redact.ts';

/**
 * Jobs repeat what they were given: a client that failed prints the request with its token. So what an
 * attempt says (lines, progress, events, errors) is searched for the secrets in its params before any
 * of it is written down, and those of at least six characters are replaced. It is done by value and
 * therefore as well as can be: a secret that was encoded, cut in two, or come by elsewhere is not found.
 *
 * Most jobs say nothing, and then nothing is looked for.
 */
export class Mask {
  readonly #paths: readonly string[];
  readonly #paramsJson: string;
  #made: Redactor | undefined;

  constructor(paths: readonly string[], paramsJson: string) {
    this.#paths = paths;
    this.#paramsJson = paramsJson;
  }

  text(text: string): string {
    return this.#redactor.text(text);
  }

  error(error: JobError): JobError {
    return redactError(error, this.#redactor);
  }

  /** By value only: what stands under a telling name is hidden when it is shown. */
  json(json: string): string {
    if (this.text(json) === json) return json;
    return JSON.stringify(this.#redactor.byValue(JSON.parse(json)));
  }

  get #redactor(): Redactor {
    this.#made ??= new Redactor(this.#paths, JSON.parse(this.#paramsJson));
    return this.#made;
  }
}
