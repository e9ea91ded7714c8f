import { z } from 'zod';
import { SCOPE_NAMES } from '../../core/access/scope.ts';
import type { SessionView } from '../../core/identity/session-view.ts';

const Moment = z.iso.datetime();
const scopes = z.array(z.enum(SCOPE_NAMES)).describe('Scopes of the key or the user.');
const sessionId = z.string().describe('The public id of the session.');
const keyId = z.string().nullable().describe('The key of the caller; null for a user.');

const UserAnswer = z
  .looseObject({
    issuer: z.string().describe('The identity provider.'),
    subject: z.string().describe('The id of the user there.'),
    name: z.string().nullable(),
    email: z.string().nullable().describe('Null when the provider says that it is not verified.'),
  })
  .nullable()
  .describe('The user whom the identity provider signed in; null for keys.');

/** Of the caller. */
export const SessionAnswer = z.looseObject({
  kind: z
    .enum(['open', 'key', 'session'])
    .describe(
      'How the caller is authenticated; open: a loopback server that never had a key, and has no ' +
        'identity provider.',
    ),
  tenant: z.string(),
  scopes,
  keyId,
  sessionId: sessionId.nullable(),
  user: UserAnswer,
  expiresAt: Moment.nullable().describe('Latest end of the session.'),
});

export const SignedOutAnswer = z.looseObject({
  signOutUrl: z.string().describe('Where the user can also sign out of the identity provider.'),
});

export const SessionIdParams = z.object({
  sessionId: z
    .string()
    .describe('The id of the session.')
    .meta({ examples: ['9f86d081884c7d65'] }),
});

export const SessionsAnswer = z.looseObject({
  sessions: z.array(
    z
      .looseObject({
        sessionId,
        tenant: z.string(),
        keyId,
        keyName: z.string().nullable(),
        user: UserAnswer,
        scopes,
        createdAt: Moment,
        seenAt: Moment.describe('Last use, to the minute. The session ends an hour later.'),
        expiresAt: Moment.describe('Latest end of the session.'),
        address: z.string().nullable().describe('Address of the sign-in.'),
        userAgent: z.string().nullable().describe('Browser of the sign-in.'),
      })
      .meta({
        id: 'Session',
        description: 'A session of a browser.',
      }) satisfies z.ZodType<SessionView>,
  ),
});

export const SignInAnswer = z.looseObject({
  sso: z
    .looseObject({
      url: z.string().describe('Where a sign-in begins.'),
      hasTenants: z
        .boolean()
        .describe('Groups lead to several tenants: a user of several chooses one at url.'),
    })
    .nullable()
    .describe('Sign-in through the identity provider; null when none is configured.'),
});
