import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { fingerprintOf, normalMessage } from './fingerprint.ts';

const stack = (message: string, frames: string[]) =>
  [`TypeError: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n');

const JOB_FRAME = 'chargeCard (/srv/app/jobs/charge.ts:12:9)';
const OURS = 'runJob (file:///srv/app/node_modules/longshore/dist/worker/runner/run.js:40:3)';

const error = (message: string, frames: string[] = [JOB_FRAME, OURS], code = 'HANDLER_ERROR') => ({
  code,
  message,
  stack: stack(message, frames),
  cause: null,
});

describe('a message without its details', () => {
  test.each([
    ['order 4711 not found', 'order <n> not found'],
    ['took 12.5 s of 10,000', 'took <n> s of <n>'],
    ['no user "bob"', 'no user <text>'],
    ["no user 'anne marie'", 'no user <text>'],
    ['GET https://api.example.com/v1/x?y=1 answered 502', 'GET <url> answered <n>'],
    ['ENOENT: no such file, open /tmp/a/b.pdf', 'ENOENT: no such file, open <path>'],
    ['job 0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400 is gone', 'job <id> is gone'],
    ['at 0xdeadbeef and 3f9ac1d200', 'at <hex> and <hex>'],
    ['token cus_N1xY8pQ2rS3tU4v5 is over', 'token <id> is over'],
    ['mail to a.b@example.com bounced', 'mail to <mail> bounced'],
    ['two\n  lines', 'two lines'],
    ['connect ECONNREFUSED 127.0.0.1:5432', 'connect ECONNREFUSED <n>'],
    ['cannot read properties of undefined', 'cannot read properties of undefined'],
  ])('%s', (message, normal) => {
    expect(normalMessage(message)).toBe(normal);
  });
});

describe('a fingerprint', () => {
  it('is the same for another order, another line and another machine', () => {
    const elsewhere = ['chargeCard (file:///home/x/jobs/charge.ts:99:1)', OURS];
    expect(fingerprintOf(error('order 2 failed', elsewhere))).toBe(
      fingerprintOf(error('order 1 failed')),
    );
  });

  test.each([
    ['code', error('order 1 failed', [JOB_FRAME], 'TIMEOUT')],
    ['message', error('refund 1 failed')],
    ['function', error('order 1 failed', ['refund (/srv/app/jobs/charge.ts:12:9)'])],
    ['file', error('order 1 failed', ['chargeCard (/srv/app/jobs/refund.ts:12:9)'])],
    ['class', { ...error('order 1 failed'), stack: `RangeError: x\n    at ${JOB_FRAME}` }],
    ['stack', { ...error('order 1 failed'), stack: null }],
  ])('differs by the %s', (_, other) => {
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(error('order 1 failed')));
  });

  it('looks past the frames of Node, of packages and of Longshore', () => {
    const deep = ['node:internal/x:1:1', 'get (/a/node_modules/pg/lib/x.js:1:2)', JOB_FRAME];
    expect(fingerprintOf(error('x', deep))).toBe(fingerprintOf(error('x', [JOB_FRAME])));
  });

  it('is 16 hex digits, whatever the error says', () => {
    const text = fc.string({ unit: 'binary', maxLength: 600 });
    fc.assert(
      fc.property(text, text, (message, trace) => {
        const one = { code: 'X', message, stack: trace, cause: null };
        expect(fingerprintOf(one)).toMatch(/^[0-9a-f]{16}$/);
      }),
    );
  });

  it('does not repeat among many messages', () => {
    const letters = 'abcdefghijklmnopqrst'.split('');
    const words = letters.flatMap((a) => letters.map((b) => `${a} ${b}`));
    const all = words.flatMap((a) => words.slice(0, 5).map((b) => `${a} ${b}`));
    const prints = new Set(all.map((message) => fingerprintOf({ ...error(''), message })));
    expect(prints.size).toBe(all.length);
  });
});
