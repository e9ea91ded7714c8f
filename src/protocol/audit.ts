import { z } from 'zod';
import type { AuditView } from '../core/access/audit.ts';
import { closed, instant, text, wholeInQuery } from './fields.ts';
import { PAGE_DEFAULT, PAGE_MAX } from './requests/job-query.ts';

/** Query of `GET /v1/audit`. */
export const AuditQuery = closed({
  actor: text(200)
    .optional()
    .describe(
      'Only entries of this actor, like key:1f0c528d0e4f0b9a; the name after it may be left out.',
    ),
  action: text(100).optional().describe('Only this action, like job.cancel.'),
  subject: text(200).optional().describe('Only entries about this subject: an id or a name.'),
  q: text(200)
    .optional()
    .describe(
      'Only entries with this text in the actor, action, subject, address or change, in any case. ' +
        'It reads every entry of the period; `after` and `before` keep that short.',
    ),
  after: instant().optional().describe('Only at this time or later.'),
  before: instant().optional().describe('Only before this time.'),
  cursor: text(200).optional().describe('The nextCursor of the previous page.'),
  limit: wholeInQuery(1, PAGE_MAX)
    .default(PAGE_DEFAULT)
    .describe(`Page size. Default ${PAGE_DEFAULT}.`),
});

const AuditAnswer = z
  .looseObject({
    id: z.string(),
    at: z.iso.datetime(),
    tenant: z.string(),
    actor: z
      .string()
      .describe('Actor: key:ID (NAME), session:ID (NAME) of a key, user:…, open, or cli.'),
    action: z.string().describe('Action, like job.cancel.'),
    subject: z.string().describe('Subject: an id or a name.'),
    before: z.unknown().describe('Changed fields before the action.'),
    after: z.unknown().describe('Changed fields after the action.'),
    address: z.string().nullable().describe('Address of the client.'),
  })
  .meta({
    id: 'AuditEntry',
    description: 'A change made by a user.',
  }) satisfies z.ZodType<AuditView>;

export const AuditPageAnswer = z.looseObject({
  entries: z.array(AuditAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
});
