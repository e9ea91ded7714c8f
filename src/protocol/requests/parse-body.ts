import type { z } from 'zod';
import { Findings } from '../findings.ts';
import { violations } from '../violations.ts';

/** Parses a body whose rules are all in its schema. Throws a `Refusal` with all violations. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.infer<Schema> {
  const read = schema.safeParse(body ?? {});
  if (read.success) return read.data;
  const findings = new Findings();
  findings.add('VALIDATION_FAILED', ...violations(read.error.issues, 'field'));
  throw findings.refusal();
}
