import { z } from 'zod';

/** Response of a successful probe; otherwise a problem with status 503. */
export const ProbeAnswer = z.looseObject({
  status: z.literal('ok'),
  version: z.string().optional().describe('Only with ?verbose.'),
  checks: z
    .array(z.looseObject({ name: z.string(), ok: z.boolean(), durationMs: z.number() }))
    .optional()
    .describe('Only with ?verbose.'),
});

export type ProbeAnswer = z.infer<typeof ProbeAnswer>;
