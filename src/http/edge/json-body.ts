import type { FastifyInstance, FastifyRequest } from 'fastify';
import { atOnce, InexactNumber, parseInSteps } from '../../core/values/exact-json.ts';
import { type JsonLimits, JsonTooComplex } from '../../core/values/json-scan.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { inSlices, OneAtATime } from '../../runtime/slices.ts';
import { BODY_MAX_BYTES } from '../start.ts';

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
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined;
      demandPlainUtf8(request);
      const isBatch = request.routeOptions.bodyLimit > BODY_MAX_BYTES;
      const steps = parseSteps(body, isBatch ? BATCH_LIMITS : LIMITS);
      if (body.length <= BODY_MAX_BYTES) return atOnce(steps);
      return await largeBodies.run(async () => await inSlices(steps));
    },
  );
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(unsupported('the content type must be application/json'));
  });
}

/**
 * Limits of a body. One job has up to 500 names or a list of 65,536 numbers; a batch has many jobs.
 * A value takes about 100 bytes of memory, however short it is in the body.
 */
const LIMITS: JsonLimits = { valuesMax: 100_000, depthMax: 100 };
const BATCH_LIMITS: JsonLimits = { ...LIMITS, valuesMax: 500_000 };

function demandPlainUtf8(request: FastifyRequest): void {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw unsupported('JSON must be encoded in UTF-8');
  if (coding !== 'identity') throw unsupported('compressed bodies are not supported');
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Invalid bytes are refused, not replaced: the stored value must be what was sent. */
function decode(body: Uint8Array): string {
  try {
    return UTF_8.decode(body);
  } catch {
    throw new Refusal('INVALID_JSON', 'the body is not UTF-8');
  }
}

function* parseSteps(body: Buffer, limits: JsonLimits): Generator<undefined, unknown> {
  try {
    return yield* parseInSteps(body, limits, decode);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof JsonTooComplex) {
      throw new Refusal('JSON_TOO_COMPLEX', `the body is too complex: ${error.message}`);
    }
    if (error instanceof InexactNumber) {
      const { message: detail } = error;
      throw new Refusal('VALIDATION_FAILED', detail, { errors: [{ pointer: '', detail }] });
    }
    // The parser's message contains only the position and the caller's own text.
    const reason = error instanceof SyntaxError ? error.message : 'cannot be parsed';
    throw new Refusal('INVALID_JSON', `the body is not JSON: ${reason.slice(0, 200)}`);
  }
}

function unsupported(detail: string): Refusal {
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', detail);
}
