import { openStorage } from '../../artifacts/open-storage.ts';
import { type JobContext, NonRetryable } from '../../core/definition/define.ts';
import { GuardedPost } from '../guarded-post.ts';
import type { Attachment, Channel, Message, Receipt } from '../notification/channel.ts';
import { recipientsOf } from '../notification/recipients.ts';
import { named } from '../ready-job.ts';
import type { ReportFormat } from './source.ts';

/** A report in the storage. */
export interface StoredReport {
  report: string;
  title: string;
  format: ReportFormat;
  rows: number;
  /** Rows are missing, because there were more than `maxRows`. */
  truncated: boolean;
  bytes: number;
  sha256: string;
  /** In the storage. */
  name: string;
  file: string;
  /** Null without the option `link`. */
  link: string | null;
  expiresAt: string;
}

export interface SentReport {
  channel: string;
  as: 'link' | 'attachment';
  /** Why it is a link, though an attachment was asked for. */
  note: string | null;
  receipts: (Receipt & { to: string | null })[];
}

interface Sending {
  name: string;
  channel: Channel;
  to: readonly (string | null)[];
  as: 'link' | 'attachment';
}

export interface SendLimits {
  storage: string;
  allow: readonly string[] | undefined;
  attachmentBytesMax: number;
}

/** Checked before the query runs. */
export function sendingOf(
  send: { channel: string; to?: string | string[] | undefined; as?: Sending['as'] | undefined },
  channels: Readonly<Record<string, Channel>>,
  hasLinks: boolean,
): Sending {
  const channel = named('channel', send.channel, channels);
  const { as = 'link' } = send;
  if (!hasLinks && (as === 'link' || !channel.attaches)) {
    throw new NonRetryable('to send a link, the report needs the option link');
  }
  return { name: send.channel, channel, to: recipientsOf(send, channel), as };
}

/** Each recipient is a step: a retry reaches only those that the attempts before did not. */
export async function sendReport(
  report: StoredReport,
  { name, channel, to: recipients, as: asked }: Sending,
  { storage: address, allow, attachmentBytesMax }: SendLimits,
  ctx: JobContext,
): Promise<SentReport> {
  const note = asked === 'link' ? null : whyNoAttachment(report, channel, attachmentBytesMax);
  const as = note === null ? asked : 'link';
  if (as === 'link' && report.link === null) {
    throw new NonRetryable(`${note}, and without the option link there is no link to send`);
  }
  if (note !== null) ctx.logger.warn('%s: sent as a link', note);
  const storage = await openStorage(address);
  const post = new GuardedPost(allow);
  const open = async () => await storage.get(report.name, ctx.abortSignal);
  const attachment = { name: report.file, bytes: report.bytes, open };
  const message = messageOf(report, note, channel, as === 'attachment' ? attachment : null);
  const receipts: SentReport['receipts'] = [];
  try {
    for (const [index, to] of recipients.entries()) {
      const id = index === 0 ? ctx.jobId : `${ctx.jobId}-${index}`;
      const send = async () =>
        await channel.send({ ...message, id, to }, { post, signal: ctx.abortSignal });
      receipts.push({ to, ...(await ctx.step(`send ${index}`, send)) });
    }
  } finally {
    storage.close();
  }
  return { channel: name, as, note, receipts };
}

function whyNoAttachment(
  { bytes }: StoredReport,
  { attaches = false }: Channel,
  bytesMax: number,
): string | null {
  if (!attaches) return 'the channel has no attachments';
  return bytes > bytesMax ? `the file has ${sizeOf(bytes)}, more than ${sizeOf(bytesMax)}` : null;
}

function messageOf(
  { title, rows, format, bytes, truncated, link, expiresAt }: StoredReport,
  note: string | null,
  { escape = (value) => value }: Channel,
  attachment: Attachment | null,
): Omit<Message, 'id' | 'to'> {
  const kind = `${format.toUpperCase()}, ${sizeOf(bytes)}`;
  const until = `The link works until ${expiresAt.slice(0, 16).replace('T', ' ')} UTC.`;
  const lines = [
    `${escape(title)}: ${rows} ${rows === 1 ? 'row' : 'rows'}, ${kind}.`,
    ...(truncated ? ['There are more rows; the report has only the first ones.'] : []),
    ...(note === null ? [] : [`It is not attached: ${note}.`]),
    // Links have no characters that a channel would have to escape.
    ...(attachment === null ? [link ?? '', until] : []),
  ];
  return { subject: escape(title), text: lines.join('\n'), html: null, attachment };
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000)} KB`
    : `${Math.ceil(bytes / 100_000) / 10} MB`;
}
