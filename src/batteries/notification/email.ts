import { Readable } from 'node:stream';
import { sendMail } from '../../webhooks/mail.ts';
import { secretOf } from '../ready-job.ts';
import type { Attachment, Channel, Message, Receipt } from './channel.ts';

export interface EmailOptions {
  /** The environment variable with the server: `smtps://user:password@mail.example.com`. */
  smtp: string;
  from: string;
}

export function email({ smtp, from }: EmailOptions): Channel {
  return {
    addressed: true,
    attaches: true,
    sampleTo: 'ada@example.com',
    send: async ({ id, to, subject, text, html, attachment }: Message): Promise<Receipt> => {
      const mail = {
        id,
        from,
        to: to ?? '',
        subject: subject ?? '',
        text,
        html: html ?? undefined,
        ...(attachment && { attachments: [await attached(attachment)] }),
      };
      const { messageId, response } = await sendMail(secretOf(smtp), mail);
      return { messageId, response };
    },
  };
}

async function attached({ name, open }: Attachment) {
  const content = Readable.from(await open(), { objectMode: false });
  return { filename: name, content };
}
