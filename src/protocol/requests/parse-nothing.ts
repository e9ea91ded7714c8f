import { closed } from '../fields.ts';
import { Findings } from '../findings.ts';
import { violations } from '../violations.ts';

const Nothing = closed({});

/** Accepts no body or an empty object. Throws a `Refusal`. */
export function parseNothing(body: unknown): void {
  if (body === undefined || body === null) return;
  const read = Nothing.safeParse(body);
  if (read.success) return;
  const findings = new Findings();
  findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'field'));
  throw findings.refusal();
}
