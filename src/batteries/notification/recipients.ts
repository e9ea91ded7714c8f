import { z } from 'zod';
import { NonRetryable } from '../../core/definition/define.ts';
import type { Channel } from './channel.ts';

const RECIPIENTS_MAX = 100;
const recipient = z
  .string()
  .min(1)
  .max(1_000)
  .regex(/^[^\r\n]*$/, 'must be one line');

export const recipients = z
  .union([recipient, z.array(recipient).min(1).max(RECIPIENTS_MAX)])
  .optional()
  .meta({ description: 'E-mail addresses, phone numbers or registration tokens.' });

/** Chats have one, which is in their URL. */
export function recipientsOf(
  { to, channel }: { to?: string | string[] | undefined; channel: string },
  { addressed }: Channel,
): (string | null)[] {
  if (!addressed) {
    if (to === undefined) return [null];
    throw new NonRetryable(`the channel ${channel} has its recipient in its URL: leave out "to"`);
  }
  if (to === undefined) throw new NonRetryable(`the channel ${channel} needs "to"`);
  return typeof to === 'string' ? [to] : to;
}
