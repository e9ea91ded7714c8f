import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InexactNumber, parseExactly } from '../core/exact-json.ts';
import { Refusal } from '../protocol/refusal.ts';

/**
 * Only JSON in UTF-8 is read. `JSON.parse` keeps `__proto__` as a plain key, which hurts nobody
 * here; params with it are refused later, with a pointer. An empty body is no body, whatever its
 * type says.
 */
export function readJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      try {
        done(null, body.length === 0 ? undefined : parseJson(request, body));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else done(unsupported('the body must be sent as application/json'));
  });
}

function parseJson(request: FastifyRequest, body: Buffer): unknown {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = request.headers;
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (!/^utf-?8$/i.test(charset)) throw unsupported('JSON must be sent in UTF-8');
  if (coding !== 'identity') throw unsupported('a compressed body is not read here');
  return parseText(decode(body));
}

/** Wrong bytes are refused: to replace them would store something that nobody sent. */
function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new Refusal('INVALID_JSON', 'the body is not UTF-8');
  }
}

function parseText(text: string): unknown {
  try {
    return parseExactly(text);
  } catch (error) {
    if (error instanceof InexactNumber) {
      const { message: detail } = error;
      throw new Refusal('VALIDATION_FAILED', detail, { errors: [{ pointer: '', detail }] });
    }
    // The parser's words say where it stopped, and quote only what the caller sent.
    const reason = error instanceof SyntaxError ? error.message : 'it cannot be read';
    throw new Refusal('INVALID_JSON', `the body is not JSON: ${reason.slice(0, 200)}`);
  }
}

function unsupported(detail: string): Refusal {
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', detail);
}
