import { z } from 'zod';
import type { AuditView } from '../core/access/audit.ts';
import { closed, instant, text, wholeInQuery } from './fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './requests/job-query.ts';

/** What `GET /v1/audit` can be asked. */
export const AuditQuery = closed({
  actor: text(200).optional().describe('Only what this one did, like key:1f0c528d0e4f0b9a.'),
  action: text(100).optional().describe('Only this, like job.cancel.'),
  subject: text(200).optional().describe('Only what was done to this: an id, or a name.'),
  after: instant().optional().describe('Only from this time on.'),
  before: instant().optional().describe('Only before this time.'),
  cursor: text(200).optional().describe('The nextCursor of the page before.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`How many entries a page holds at most. Default ${PAGE_DEFAULT}.`),
});

const AuditAnswer = z
  .looseObject({
    id: z.string(),
    at: z.iso.datetime(),
    tenant: z.string(),
    actor: z.string().describe('Who: key:ID, session:ID of a key, open, or cli.'),
    action: z.string().describe('What, like job.cancel.'),
    subject: z.string().describe('To what: an id, or a name.'),
    before: z.unknown().describe('How it was, as far as it changed.'),
    after: z.unknown().describe('How it is.'),
    address: z.string().nullable().describe('From where.'),
  })
  .meta({
    id: 'AuditEntry',
    description: 'Something that somebody did by hand.',
  }) satisfies z.ZodType<AuditView>;

export const AuditPageAnswer = z.looseObject({
  entries: z.array(AuditAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});
