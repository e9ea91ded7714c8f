import type { Readable } from 'node:stream';
import { NonRetryable } from '../core/definition/define.ts';

export interface Mail {
  /** The same for every try, so that a receiver can recognise a repetition. */
  id: string;
  from: string;
  to: string | string[];
  subject: string;
  text: string;
  html?: string | undefined;
  attachments?: { filename: string; content: Readable }[];
}

const TIMEOUT_MS = 15_000;

/** Sends one mail by SMTP: `smtps://user:password@mail.example.com`. */
export async function sendMail(
  smtpUrl: string,
  { id, ...mail }: Mail,
): Promise<{ messageId: string; response: string; rejected: string[] }> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // A message has no files and no addresses to load.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const sent = await transport.sendMail({ messageId: `<${id}@longshore>`, ...mail });
    const { messageId, response, rejected } = sent;
    return { messageId, response, rejected };
  } catch (error) {
    throw smtpFailure(error);
  } finally {
    transport.close();
  }
}

/** A server says with 4xx that a retry can help, and with 5xx that it cannot. */
function smtpFailure(error: unknown): Error {
  const { message = String(error), responseCode, code } = error as Partial<SmtpError>;
  if (code === 'EAUTH') {
    return Object.assign(new Error(message, { cause: error }), { code: 'AUTHENTICATION_FAILED' });
  }
  if (responseCode !== undefined && responseCode >= 500) return new NonRetryable(message);
  const passing = responseCode === undefined ? 'NETWORK_ERROR' : 'UPSTREAM_5XX';
  const known = code === 'ETIMEDOUT' ? 'TIMEOUT' : passing;
  return Object.assign(new Error(message, { cause: error }), { code: known });
}

interface SmtpError extends Error {
  code: string;
  responseCode: number;
}
