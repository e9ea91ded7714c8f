import { z } from 'zod';
import { says } from './fields.ts';

export const ReportParams = z.object({
  report: z.string().describe('Name of the stored report.'),
  file: z.string().describe('What the download is called.'),
});

export const ReportQuery = z.strictObject({
  signature: z
    .string(says('must be the signature of a link to a report'))
    .max(100)
    .optional()
    .describe('Signature of the link, with the time at which it expires.'),
});
