import type { FastifyInstance, FastifyRequest } from 'fastify';
import { atOnce } from '../../core/values/exact-json.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { BATCH_LIMITS, BODY_MAX_BYTES, JOB_LIMITS, readJson } from '../../protocol/read-json.ts';
import { inSlices, OneAtATime } from '../../runtime/slices.ts';

/**
 * Accepts JSON in UTF-8 only. `JSON.parse` keeps `__proto__` as a plain key, which is harmless;
 * params with it are refused later with a pointer. An empty body is no body. Large bodies are
 * parsed one after the other and in slices, so that other requests are served in between and memory
 * stays bounded.
 */
export function readJsonOnly(app: FastifyInstance): void {
  const largeBodies = new OneAtATime();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer, done) => {
      if (body.length === 0) return done(null, undefined);
      demandPlainUtf8(request);
      const isBatch = request.routeOptions.bodyLimit > BODY_MAX_BYTES;
      const steps = readJson(body, isBatch ? BATCH_LIMITS : JOB_LIMITS);
      if (body.length <= BODY_MAX_BYTES) return done(null, atOnce(steps));
      return largeBodies.run(async () => await inSlices(steps));
    },
  );
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(unsupported('the content type must be application/json'));
  });
}

function demandPlainUtf8(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw unsupported('JSON must be encoded in UTF-8');
  // Packed bodies are unpacked before they get here, where a route allows them.
  const unpacked = coding === 'gzip' && request.routeOptions.config.access === 'worker';
  if (coding !== 'identity' && !unpacked) throw unsupported('compressed bodies are not supported');
}

function unsupported(detail: string): Refusal {
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', detail);
}
