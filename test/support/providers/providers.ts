import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Received } from '../servers/receiver.ts';

/**
 * Servers that check requests as the documentation of the providers says: what they answer to a
 * wrong one is what the provider answers.
 */
export interface Reply {
  status: number;
  body: unknown;
}

export const TWILIO = { sid: `AC${'0'.repeat(32)}`, token: 'a-twilio-token' };

/** `POST /2010-04-01/Accounts/{Sid}/Messages.json` of Twilio. */
export function twilioAnswer({ headers, path, body }: Received): Reply {
  const login = `Basic ${Buffer.from(`${TWILIO.sid}:${TWILIO.token}`).toString('base64')}`;
  const refuse = (status: number, code: number, message: string) => ({
    status,
    body: { code, message, status, more_info: `https://www.twilio.com/docs/errors/${code}` },
  });
  if (headers.authorization !== login) return refuse(401, 20003, 'Authenticate');
  if (path !== `/2010-04-01/Accounts/${TWILIO.sid}/Messages.json`) {
    return refuse(404, 20404, `The requested resource ${path} was not found`);
  }
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') {
    return refuse(400, 21602, 'Message body is required.');
  }
  const form = new URLSearchParams(body);
  const [to, from, text] = ['To', 'From', 'Body'].map((name) => form.get(name) ?? '');
  if (!/^\+[1-9]\d{1,14}$/.test(to ?? '')) {
    return refuse(400, 21211, `The 'To' number ${to} is not a valid phone number.`);
  }
  if (!/^\+[1-9]\d{1,14}$/.test(from ?? '')) return refuse(400, 21212, `Invalid From Number`);
  if (text === '') return refuse(400, 21602, 'Message body is required.');
  if ((text?.length ?? 0) > 1_600)
    return refuse(400, 21617, 'The concatenated message body exceeds');
  return {
    status: 201,
    body: { sid: `SM${'1'.repeat(32)}`, status: 'queued', to, from, body: text },
  };
}

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** The JSON of a service account, whose tokens come from this server. */
export function fcmAccount(baseUrl: string): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'shop-1',
    client_email: 'jobs@shop-1.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${baseUrl}/token`,
  });
}

const tokens = new Set<string>();

/** The token endpoint of Google, and `messages:send` of Firebase Cloud Messaging. */
export function fcmAnswer({ headers, path, body }: Received): Reply {
  if (path === '/token') return tokenAnswer(body, `http://${headers.host}/token`);
  const refuse = (code: number, status: string, message: string) => ({
    status: code,
    body: { error: { code, message, status } },
  });
  const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
  if (!tokens.has(token)) {
    return refuse(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
  }
  if (path !== '/v1/projects/shop-1/messages:send') return refuse(404, 'NOT_FOUND', 'not found');
  const { message, ...rest } = JSON.parse(body) as Record<string, Record<string, unknown>>;
  if (Object.keys(rest).length > 0 || !message) {
    return refuse(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.');
  }
  if (message['token'] === 'unregistered') {
    return refuse(404, 'NOT_FOUND', 'Requested entity was not found.');
  }
  return { status: 200, body: { name: `projects/shop-1/messages/${randomUUID()}` } };
}

function tokenAnswer(body: string, audience: string): Reply {
  const form = new URLSearchParams(body);
  const refuse = (error: string, description: string) => ({
    status: 400,
    body: { error, error_description: description },
  });
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
    return refuse('unsupported_grant_type', 'Invalid grant_type');
  }
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const signed = createVerify('RSA-SHA256').update(`${head}.${claims}`);
  if (!signed.verify(publicKey, signature, 'base64url')) {
    return refuse('invalid_grant', 'Invalid JWT Signature.');
  }
  const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
  const scope = 'https://www.googleapis.com/auth/firebase.messaging';
  if (said['aud'] !== audience || said['scope'] !== scope) {
    return refuse('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
  }
  if (Number(said['exp']) - Number(said['iat']) > 3_600) {
    return refuse('invalid_grant', 'Invalid JWT: Token must be a short-lived token');
  }
  const token = randomUUID();
  tokens.add(token);
  return { status: 200, body: { access_token: token, expires_in: 3_599, token_type: 'Bearer' } };
}

/** Incoming webhooks of Slack: the text `ok`, or the name of the mistake. */
export function slackAnswer({ headers, body }: Received): Reply {
  if (!headers['content-type']?.startsWith('application/json')) {
    return { status: 400, body: 'invalid_payload' };
  }
  const { text } = JSON.parse(body) as { text?: unknown };
  return typeof text === 'string' && text !== ''
    ? { status: 200, body: 'ok' }
    : { status: 400, body: 'no_text' };
}

/** Webhooks of Discord: 204, or what is wrong with `content`. */
export function discordAnswer({ body }: Received): Reply {
  const { content } = JSON.parse(body) as { content?: unknown };
  if (typeof content !== 'string' || content === '') {
    return { status: 400, body: { message: 'Cannot send an empty message', code: 50006 } };
  }
  if (content.length > 2_000)
    return { status: 400, body: { content: ['Must be 2000 or fewer in length.'] } };
  return { status: 204, body: '' };
}

/** A workflow of Teams: 202 for a message with an Adaptive Card. */
export function teamsAnswer({ body }: Received): Reply {
  const { type, attachments } = JSON.parse(body) as {
    type?: string;
    attachments?: { contentType?: string; content?: { type?: string; body?: unknown[] } }[];
  };
  const [card] = attachments ?? [];
  const isCard =
    card?.contentType === 'application/vnd.microsoft.card.adaptive' &&
    card.content?.type === 'AdaptiveCard' &&
    Array.isArray(card.content.body);
  return type === 'message' && isCard
    ? { status: 202, body: '' }
    : { status: 400, body: { error: { code: 'TriggerInputSchemaMismatch' } } };
}
