import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/**
 * The error code of S3 for a request that is not signed with this secret, or whose body is not the
 * signed one; null: it is fine. The S3 server of the tests does not check.
 */
export function signatureProblem(
  request: IncomingMessage,
  body: Buffer,
  secret: string,
): string | null {
  const { authorization = '' } = request.headers;
  const [, date = '', region = '', signed = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d+)\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  if (signature === '') return 'AccessDenied';
  const header = (name: string) => String(request.headers[name] ?? '').trim();
  const url = new URL(request.url ?? '/', 'http://localhost');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const names = signed.split(';');
  const canonical = [
    request.method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${header(name)}`),
    '',
    signed,
    header('x-amz-content-sha256'),
  ].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', header('x-amz-date'), scope, sha256(canonical)].join('\n');
  const key = [region, 's3', 'aws4_request'].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, date));
  if (!timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'))) {
    return 'SignatureDoesNotMatch';
  }
  const hash = header('x-amz-content-sha256');
  return /^[0-9a-f]{64}$/.test(hash) && hash !== sha256(body) ? 'XAmzContentSHA256Mismatch' : null;
}
