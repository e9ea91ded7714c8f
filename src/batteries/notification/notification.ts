import { z } from 'zod';
import { defineJob } from '../../core/definition/define.ts';
import { GuardedPost } from '../guarded-post.ts';
import { named, oneNameOf, type ReadyJobOptions } from '../ready-job.ts';
import type { Channel, Message, Receipt } from './channel.ts';
import { recipients, recipientsOf } from './recipients.ts';
import { escapeHtml, render, type Template } from './template.ts';

export interface NotificationOptions extends ReadyJobOptions {
  /** By the name that params use. */
  channels: Readonly<Record<string, Channel>>;
  templates?: Readonly<Record<string, Template>> | undefined;
  /** Private networks that it may reach, such as '10.1.0.0/16'. */
  allow?: readonly string[] | undefined;
}

const paramsOf = ({ channels, templates = {} }: NotificationOptions) =>
  z
    .strictObject({
      channel: oneNameOf('channel', channels),
      to: recipients,
      subject: z.string().max(500).optional(),
      text: z.string().max(100_000).optional(),
      template: oneNameOf('template', templates).optional(),
      data: z
        .record(z.string(), z.unknown())
        .optional()
        .meta({ description: 'Values of a template.' }),
    })
    .refine(({ text, template }) => (text === undefined) !== (template === undefined), {
      error: 'give either text or template',
    })
    .meta({ examples: Object.entries(channels).map(exampleOf) });

const exampleOf = ([channel, { addressed, sampleTo = '…' }]: [string, Channel]) => ({
  channel,
  ...(addressed && { to: [sampleTo] }),
  subject: 'A test',
  text: 'A test message of Longshore',
});

export type NotificationParams = z.input<ReturnType<typeof paramsOf>>;
type Parsed = z.output<ReturnType<typeof paramsOf>>;

/** One receipt for each recipient; chats have one. */
export interface NotificationReceipt {
  channel: string;
  receipts: (Receipt & { to: string | null })[];
}

/**
 * Sends a message by e-mail, chat, SMS or push. Each recipient is a step: a retry reaches only those
 * that the attempts before did not.
 */
export function notification(options: NotificationOptions) {
  const { channels, templates = {}, allow, ...policy } = options;
  const post = new GuardedPost(allow);
  return defineJob({
    key: 'notification',
    description: 'Sends a message by e-mail, chat, SMS or push.',
    retry: 'webhook',
    timeoutSeconds: 300,
    ...policy,
    params: paramsOf(options),
    run: async (params, ctx): Promise<NotificationReceipt> => {
      const channel = named('channel', params.channel, channels);
      const message = messageOf(ctx.jobId, params, channel, templates);
      const receipts: NotificationReceipt['receipts'] = [];
      for (const [index, to] of recipientsOf(params, channel).entries()) {
        const id = index === 0 ? ctx.jobId : `${ctx.jobId}-${index}`;
        const send = async () =>
          await channel.send({ ...message, id, to }, { post, signal: ctx.abortSignal });
        receipts.push({ to, ...(await ctx.step(`send ${index}`, send)) });
      }
      return { channel: params.channel, receipts };
    },
  });
}

function messageOf(
  id: string,
  { subject, text, template, data = {} }: Parsed,
  { escape = (value) => value }: Channel,
  templates: Readonly<Record<string, Template>>,
): Message {
  const plain = { id, to: null, html: null };
  if (template === undefined) {
    return {
      ...plain,
      subject: subject === undefined ? null : escape(subject),
      text: escape(text ?? ''),
    };
  }
  const found = named('template', template, templates);
  const heading = subject ?? found.subject;
  return {
    ...plain,
    subject: heading === undefined ? null : oneLine(render(heading, data, escape)),
    text: render(found.text, data, escape),
    html: found.html === undefined ? null : render(found.html, data, escapeHtml),
  };
}

/** A line break in a subject would be another header. */
function oneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
}
