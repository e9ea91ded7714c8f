import { createHmac, timingSafeEqual } from 'node:crypto';

/** A report and the name of its file; the signature contains when the link expires. */
export interface LinkParts {
  /** Of the stored report (`core/report/report-name.ts`). */
  name: string;
  /** What a browser calls the download. */
  file: string;
}

export const REPORTS_PATH = '/v1/reports';

/**
 * A URL with which anyone can download the report until it expires. It has no characters that chats
 * or HTML would have to escape.
 */
export function reportLink(
  baseUrl: string,
  parts: LinkParts,
  expiresAt: Date,
  secret: string,
): string {
  const seconds = Math.floor(expiresAt.getTime() / 1_000);
  const path = `${REPORTS_PATH}/${parts.name}/${parts.file}`;
  return `${baseUrl.replace(/\/+$/, '')}${path}?signature=${seconds}.${macOf(parts, seconds, secret)}`;
}

export function judgeLink(
  parts: LinkParts,
  signature: string,
  secret: string,
  now: Date,
): 'valid' | 'expired' | 'forged' {
  const [, seconds = '', mac = ''] = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(signature) ?? [];
  const expected = Buffer.from(macOf(parts, Number(seconds), secret));
  const given = Buffer.from(mac.padEnd(expected.length, '-'));
  if (!timingSafeEqual(expected, given)) return 'forged';
  return Number(seconds) * 1_000 > now.getTime() ? 'valid' : 'expired';
}

function macOf({ name, file }: LinkParts, seconds: number, secret: string): string {
  const signed = ['longshore report', name, file, seconds].join('\n');
  return createHmac('sha256', secret).update(signed).digest('hex');
}
