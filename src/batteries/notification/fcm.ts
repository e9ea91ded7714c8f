import { createSign } from 'node:crypto';
import { NonRetryable } from '../../core/definition/define.ts';
import { systemClock } from '../../runtime/clock.ts';
import { failureOf } from '../guarded-post.ts';
import { secretOf } from '../ready-job.ts';
import type { Channel, Message, Receipt, Sender } from './channel.ts';
import { answerOf, withReason } from './provider-answer.ts';

export interface FcmOptions {
  /** The environment variable with the service account: the JSON that Google gives out. */
  credentials: string;
  baseUrl?: string | undefined;
}

interface Account {
  project_id: string;
  client_email: string;
  private_key: string;
  token_uri: string;
}

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
const HOUR_S = 3_600;

/** Push notifications by version 1 of Firebase Cloud Messaging; `to` is a registration token. */
export function fcm({ credentials, baseUrl = 'https://fcm.googleapis.com' }: FcmOptions): Channel {
  return {
    addressed: true,
    sampleTo: 'a registration token',
    send: async ({ to, subject, text }: Message, sender: Sender): Promise<Receipt> => {
      const account = accountOf(credentials);
      const token = await accessToken(account, sender);
      const notification = { ...(subject !== null && { title: subject }), body: text };
      const sent = await sender.post.send(
        {
          url: `${baseUrl}/v1/projects/${encodeURIComponent(account.project_id)}/messages:send`,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: { token: to, notification } }),
        },
        sender.signal,
      );
      const answer = answerOf(sent.send.responseBody);
      const failure = failureOf(sent);
      if (failure) throw withReason(failure, (answer['error'] as Answer | undefined)?.['message']);
      return { name: String(answer['name']) };
    },
  };
}

type Answer = Record<string, unknown>;

function accountOf(name: string): Account {
  const account = answerOf(secretOf(name)) as unknown as Partial<Account>;
  const fields = ['project_id', 'client_email', 'private_key', 'token_uri'] as const;
  const missing = fields.filter((field) => typeof account[field] !== 'string');
  if (missing.length === 0) return account as Account;
  throw new NonRetryable(
    `${name} is not the JSON of a service account: ${missing.join(', ')} missing`,
  );
}

/** Exchanges a signed assertion for a token, as OAuth 2.0 describes it for service accounts. */
async function accessToken(account: Account, { post, signal }: Sender): Promise<string> {
  const nowS = Math.floor(systemClock.now().getTime() / 1_000);
  const claims = {
    iss: account.client_email,
    scope: SCOPE,
    aud: account.token_uri,
    iat: nowS,
    exp: nowS + HOUR_S,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  const signature = createSign('RSA-SHA256')
    .update(unsigned)
    .sign(account.private_key, 'base64url');
  const sent = await post.send(
    {
      url: account.token_uri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: `${unsigned}.${signature}`,
      }).toString(),
    },
    signal,
  );
  const answer = answerOf(sent.send.responseBody);
  const failure = failureOf(sent);
  if (failure) throw withReason(failure, answer['error_description']);
  return String(answer['access_token']);
}
