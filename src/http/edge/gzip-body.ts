import { PassThrough } from 'node:stream';
import { createGunzip, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import { Refusal } from '../../protocol/refusal.ts';
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify';

/** Shorter bodies do not become shorter on the wire. */
const GZIP_MIN_BYTES = 4_096;
const compress = promisify(gzip);

/** Unpacks a body. The limit of the route counts unpacked bytes. */
export async function gunzipBody(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  payload: RequestPayload,
): Promise<RequestPayload> {
  if (headers['content-encoding'] !== 'gzip') return payload;
  const plain: RequestPayload & PassThrough = new PassThrough();
  plain.receivedEncodedLength = 0;
  payload.on('data', (chunk: Buffer) => {
    plain.receivedEncodedLength = (plain.receivedEncodedLength ?? 0) + chunk.length;
  });
  payload.on('error', (error) => plain.destroy(error));
  const unpacking = createGunzip();
  unpacking.on('error', () => plain.destroy(new Refusal('INVALID_JSON', 'the body is not gzip')));
  payload.pipe(unpacking).pipe(plain);
  return plain;
}

/** Sends JSON, packed if the caller accepts that. */
export async function sendPacked(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  body: object,
): Promise<FastifyReply> {
  const text = JSON.stringify(body);
  void reply.type('application/json; charset=utf-8');
  const accepts = /(^|,)\s*gzip\s*(,|$)/.test(String(headers['accept-encoding'] ?? ''));
  if (!accepts || text.length < GZIP_MIN_BYTES) return reply.send(text);
  return reply.header('content-encoding', 'gzip').send(await compress(text));
}
