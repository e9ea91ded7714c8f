import {
  branded,
  type JobContext,
  type JobDefinition,
  NonRetryable,
} from '../core/definition/define.ts';
import { definitionInfo } from '../core/definition/check-definition.ts';
import { chatStyle, messageText } from '../core/alert/message-text.ts';
import { ALERT_KEY, type AlertMessage, MESSAGE_DELAYS_MS } from '../core/alert/route.ts';
import { chatBody } from '../core/webhook/chat.ts';
import { isDelivered, type Send } from '../core/webhook/webhook.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Destination, findDestination } from '../store/alerts/messages.ts';
import type { Db } from '../store/connection/db.ts';
import { answerError } from './answer-error.ts';
import { sendMail } from './mail.ts';
import { send, type SenderOptions, startSend } from './send.ts';

/** What the operator of the server configures for messages. */
export interface MailSettings {
  smtpUrl?: string | null | undefined;
  alertFrom?: string | null | undefined;
  /** The address of the dashboard, for links. */
  publicUrl?: string | null | undefined;
}

export interface AlertMessageOptions extends SenderOptions, MailSettings {
  db: Db;
  clock: Clock;
}

/** Long enough for a send and the writes around it. */
const TIMEOUT_SECONDS = 60;
const SENDS_KEPT = 20;

/**
 * A message about alerts as a job, like the delivery of a webhook (`delivery-job.ts`): what was sent
 * is its checkpoint, so a message is sent again only if the worker dies between the two, with the same
 * id.
 */
export function alertMessageJob(options: AlertMessageOptions): JobDefinition {
  const policy = definitionInfo(
    {
      key: 'alert',
      isolation: 'inline',
      maxAttempts: MESSAGE_DELAYS_MS.length + 1,
      retry: { delaysMs: MESSAGE_DELAYS_MS, jitter: 0.1 },
      timeoutSeconds: TIMEOUT_SECONDS,
    },
    { paramsSchema: null },
  );
  return branded({
    info: { ...policy, key: ALERT_KEY },
    schema: null,
    hooks: {},
    run: async (message: AlertMessage, ctx) => await deliver(message, ctx, options),
  });
}

async function deliver(
  message: AlertMessage,
  ctx: JobContext,
  options: AlertMessageOptions,
): Promise<{ status: number | null }> {
  const before = Array.isArray(ctx.lastCheckpoint) ? (ctx.lastCheckpoint as Send[]) : [];
  const arrived = before.find(isDelivered);
  if (arrived) return { status: arrived.status };
  const destination = await findDestination(options.db, ctx.jobId);
  if (!destination) throw new NonRetryable('the route was deleted');
  const { sent, failure } =
    destination.channel === 'email'
      ? await mailTo(destination.to, message, ctx.jobId, options)
      : await postTo(destination, message, ctx, options);
  await ctx.checkpoint([...before, sent].slice(-SENDS_KEPT));
  if (failure) throw failure;
  return { status: sent.status };
}

interface Tried {
  sent: Send;
  failure: Error | null;
}

async function postTo(
  { channel, url }: Extract<Destination, { url: string }>,
  message: AlertMessage,
  ctx: JobContext,
  options: AlertMessageOptions,
): Promise<Tried> {
  const text = messageText(message, options.publicUrl ?? null, chatStyle(channel));
  const body = JSON.stringify(chatBody(channel, text));
  const headers = { 'content-type': 'application/json' };
  const tried = await send({ url, headers, body }, options, ctx.abortSignal);
  return { sent: tried.send, failure: isDelivered(tried.send) ? null : answerError(tried) };
}

async function mailTo(
  to: string[],
  message: AlertMessage,
  id: string,
  { smtpUrl, alertFrom, publicUrl, clock }: AlertMessageOptions,
): Promise<Tried> {
  const sent = startSend(clock);
  try {
    if (!smtpUrl) throw new Error('the worker has no LONGSHORE_SMTP_URL');
    if (!alertFrom) throw new Error('the worker has no LONGSHORE_ALERT_FROM');
    const { subject, text } = messageText(message, publicUrl ?? null);
    const mail = { id, from: alertFrom, to, subject: `[Longshore] ${subject}`, text };
    const { response, rejected } = await sendMail(smtpUrl, mail);
    const refused = rejected.length === 0 ? '' : `; refused: ${rejected.join(', ')}`;
    return {
      sent: sent({ status: MAIL_ACCEPTED, responseBody: response + refused }),
      failure: null,
    };
  } catch (error) {
    const failure = shownFailure(error);
    return { sent: sent({ error: failure.message }), failure };
  }
}

/**
 * A tenant sees it, and the mail server belongs to the operator: its replies are shown, its address,
 * which errors of the network contain, is not.
 */
function shownFailure(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  const { code, responseCode } = (error.cause ?? {}) as { code?: unknown; responseCode?: unknown };
  if (responseCode !== undefined || typeof code !== 'string') return error;
  const shown = new Error(`the mail server did not answer (${code})`, { cause: error });
  return Object.assign(shown, 'code' in error && { code: error.code });
}

/** The reply code of SMTP, which counts as delivered like a status of HTTP. */
const MAIL_ACCEPTED = 250;
