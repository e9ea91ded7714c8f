import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainRequest } from '../../core/job/new-job.ts';
import { FINDINGS_MAX } from '../findings.ts';
import { parseBatch, parseJob } from './parse-job.ts';
import { Refusal } from '../refusal.ts';

const parse = (body: unknown, header?: string) => parseJob(body, 'default', header);

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

/** The pointers of everything that is wrong with a job that is right but for these fields. */
const pointers = (fields: object) =>
  refusalOf(() => parse({ definitionKey: 'a', ...fields })).errors?.map(({ pointer }) => pointer);

describe('a job', () => {
  it('needs only its key', () => {
    const plain = plainRequest('default', 'image.resize', '{}');
    expect(parse({ definitionKey: 'image.resize' })).toEqual(plain);
  });

  it('is read with and without the rules of other fields alike', () => {
    const id = '019a8c1e-7b60-7000-8000-00000000002a';
    const bodies = fc.record(
      {
        definitionKey: fc.oneof(fc.constantFrom('image.resize', '', 'a b', 7), fc.string()),
        params: fc.oneof(fc.jsonValue({ maxDepth: 12 }), fc.constantFrom(undefined, 1n, NaN)),
        requestId: fc.constantFrom(id, 'x', 3, null, undefined),
        definitionVersion: fc.constantFrom(1, 2_147_483_647, 2_147_483_648, 0, 1.5, '1', null),
        paramsShape: fc.constantFrom(1, 7, 1_000, 1_001, -1, NaN, undefined),
      },
      { requiredKeys: [] },
    );
    const answer = (body: object) => {
      try {
        return parse(body);
      } catch (error) {
        return error instanceof Refusal ? error.errors : error;
      }
    };
    fc.assert(
      // A job that names its default priority is read with all rules.
      fc.property(bodies, (body) => {
        expect(answer(body)).toEqual(answer({ ...body, priority: 0 }));
      }),
    );
  });

  it('with objects where times belong is refused, whatever these objects say of themselves', () => {
    const odd = { toString: 1, valueOf: 1 };
    expect(pointers({ runAt: odd, expiresAt: odd })).toEqual(['/runAt', '/expiresAt']);
  });

  it('may have scheduledAt in place of runAt', () => {
    const scheduledAt = '2030-01-31T10:00:00Z';
    expect(parse({ definitionKey: 'a', scheduledAt }).runAt).toEqual(new Date(scheduledAt));
    expect(pointers({ scheduledAt, delayMs: 5 })).toEqual(['/delayMs']);
    expect(pointers({ scheduledAt, runAt: scheduledAt })).toEqual(['/scheduledAt']);
    expect(pointers({ scheduledAt, expiresAt: scheduledAt })).toEqual(['/expiresAt']);
  });

  it('may wait for others', () => {
    const id = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';
    const body = { definitionKey: 'a', after: [id] };
    expect(parse(body).after).toEqual({ jobs: [id], onFailure: 'fail' });
    const run = { ...body, onParentFailure: 'run' };
    expect(parse(run).after).toEqual({ jobs: [id], onFailure: 'run' });
    expect(pointers({ onParentFailure: 'run' })).toEqual(['/onParentFailure']);
    expect(pointers({ ...body, onParentFailure: 'rum' })).toEqual(['/onParentFailure']);
    expect(pointers({ after: [] })).toEqual(['/after']);
    expect(pointers({ after: [id, 'x', id] })).toEqual(['/after/1', '/after/2']);
    expect(pointers({ after: Array.from({ length: 101 }, () => id) })).toEqual(['/after']);
    expect(pointers({ after: [id], delayMs: 0, hold: true })).toEqual(['/delayMs', '/hold']);
    expect(pointers({ after: [id], runAt: '2030-01-31T10:00:00Z' })).toEqual(['/runAt']);
    expect(pointers({ after: [id], unique: { while: 'queued' } })).toEqual(['/unique']);
  });

  it('carries every field over', () => {
    const job = parse({
      definitionKey: 'a',
      definitionVersion: 2,
      params: [1, 'x'],
      priority: -5,
      maxAttempts: 7,
      idempotencyKey: 'k',
      concurrencyKey: 'customer-1',
      runAt: '2030-01-31T10:00:00+02:00',
      hold: true,
      timeoutSeconds: 1.5,
      retry: { baseMs: 5 },
      tags: ['x', 'y'],
    });
    expect(job).toMatchObject({
      definitionVersion: 2,
      paramsJson: '[1,"x"]',
      priority: -5,
      maxAttempts: 7,
      idempotencyKey: 'k',
      concurrencyKey: 'customer-1',
      runAt: new Date('2030-01-31T08:00:00Z'),
      hold: true,
      tags: ['x', 'y'],
      policy: { timeoutMs: 1_500, retry: { baseMs: 5, maxMs: 60_000, jitter: 0.1 } },
    });
  });

  it.each([null, false, 0, '', 'text', [], {}])('takes %j as params', (params) => {
    expect(parse({ definitionKey: 'a', params }).paramsJson).toBe(JSON.stringify(params));
  });

  it('takes the attempts of a retry preset unless told otherwise', () => {
    expect(parse({ definitionKey: 'a', retry: 'webhook' }).maxAttempts).toBe(5);
    expect(parse({ definitionKey: 'a', retry: 'webhook', maxAttempts: 2 }).maxAttempts).toBe(2);
  });

  it('is one of a kind by its params, and gives way, unless told otherwise', () => {
    const plain = { key: null, while: 'queued', onConflict: 'existing' };
    expect(parse({ definitionKey: 'a', unique: { while: 'queued' } }).unique).toEqual(plain);
    const all = { key: 'k', while: { windowMs: 5 }, onConflict: 'replace', maxWaitMs: 9 };
    expect(parse({ definitionKey: 'a', unique: all }).unique).toEqual(all);
  });

  it('never rounds a timeout down to nothing', () => {
    expect(parse({ definitionKey: 'a', timeoutSeconds: 0.0001 }).policy?.timeoutMs).toBe(1);
  });
});

describe('the edges of a field', () => {
  it.each([
    [{ definitionKey: 'k'.repeat(200) }],
    [{ definitionVersion: 2_147_483_647 }],
    [{ priority: 1_000_000 }],
    [{ priority: -1_000_000 }],
    [{ maxAttempts: 1_000 }],
    [{ idempotencyKey: 'k'.repeat(255) }],
    [{ delayMs: 0 }],
    [{ delayMs: 316_224_000_000 }],
    [{ timeoutSeconds: 2_592_000 }],
    [{ runAt: '1970-01-01T00:00:00Z' }],
    [{ tags: Array.from({ length: 20 }, (_, index) => `t${index}`) }],
    [{ tags: [] }],
    [{ tags: ['t'.repeat(100)] }],
    [{ retry: { delaysMs: [0, 1] } }],
    [{ retry: { jitter: 1 } }],
    [{ unique: { while: 'queued' } }],
    [{ unique: { while: { windowMs: 1 }, key: 'k'.repeat(255), onConflict: 'replace' } }],
    [{ unique: { while: 'active' }, hold: true }],
    [{ expiresAt: '2030-01-31T10:00:00Z', runAt: '2030-01-31T09:59:59Z' }],
  ])('%j fits', (fields) => {
    expect(() => parse({ definitionKey: 'a', ...fields })).not.toThrow();
  });

  it.each([
    [{ definitionKey: 'k'.repeat(201) }, '/definitionKey'],
    [{ definitionKey: '.hidden' }, '/definitionKey'],
    [{ definitionVersion: 0 }, '/definitionVersion'],
    [{ definitionVersion: 2_147_483_648 }, '/definitionVersion'],
    [{ priority: 1_000_001 }, '/priority'],
    [{ priority: -1_000_001 }, '/priority'],
    [{ priority: 1.5 }, '/priority'],
    [{ priority: '1' }, '/priority'],
    [{ maxAttempts: 0 }, '/maxAttempts'],
    [{ maxAttempts: 1_001 }, '/maxAttempts'],
    [{ idempotencyKey: '' }, '/idempotencyKey'],
    [{ idempotencyKey: 'k'.repeat(256) }, '/idempotencyKey'],
    [{ idempotencyKey: 'a\u0000b' }, '/idempotencyKey'],
    [{ idempotencyKey: 'a\nb' }, '/idempotencyKey'],
    [{ idempotencyKey: 'a\ud800' }, '/idempotencyKey'],
    [{ delayMs: -1 }, '/delayMs'],
    [{ delayMs: 316_224_000_001 }, '/delayMs'],
    [{ timeoutSeconds: 0 }, '/timeoutSeconds'],
    [{ timeoutSeconds: 2_592_001 }, '/timeoutSeconds'],
    [{ runAt: '2030-01-31T10:00:00' }, '/runAt'],
    [{ runAt: '2030-02-30T10:00:00Z' }, '/runAt'],
    [{ runAt: '0000-01-01T00:00:00Z' }, '/runAt'],
    [{ runAt: 5 }, '/runAt'],
    [{ runAt: null }, '/runAt'],
    [{ hold: 'yes' }, '/hold'],
    [{ tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, '/tags'],
    [{ tags: ['t'.repeat(101)] }, '/tags/0'],
    [{ tags: ['ok', ''] }, '/tags/1'],
    [{ tags: ['a\u0000'] }, '/tags/0'],
    [{ tags: ['a', 'b', 'a'] }, '/tags/2'],
    [{ retry: 'webhok' }, '/retry'],
    [{ retry: 5 }, '/retry'],
    [{ retry: { baseMs: -1 } }, '/retry/baseMs'],
    [{ retry: { jitter: 1.1 } }, '/retry/jitter'],
    [{ retry: { delaysMs: [] } }, '/retry/delaysMs'],
    [{ retry: { delaysMs: [1, -1] } }, '/retry/delaysMs/1'],
    [{ retry: { delaysMs: [1], baseMs: 1 } }, '/retry/delaysMs'],
    [{ retry: { delayMs: 1 } }, '/retry/delayMs'],
    [{ runAt: '2030-01-31T10:00:00Z', delayMs: 5 }, '/delayMs'],
    [{ unique: {} }, '/unique/while'],
    [{ unique: { while: 'runing' } }, '/unique/while'],
    [{ unique: { while: { windowMs: 0 } } }, '/unique/while/windowMs'],
    [{ unique: { while: { windowMs: 5, key: 'k' } } }, '/unique/while/key'],
    [{ unique: { while: 'queued', key: '' } }, '/unique/key'],
    [{ unique: { while: 'queued', onConflict: 'cancel' } }, '/unique/onConflict'],
    [{ unique: { while: 'queued', onConflict: 'replace' }, hold: true }, '/hold'],
    [{ unique: { while: 'queued', maxWaitMs: 9 } }, '/unique/maxWaitMs'],
    [{ unique: { while: 'queued', onConflict: 'replace', maxWaitMs: 0 } }, '/unique/maxWaitMs'],
    [
      { unique: { while: 'queued', onConflict: 'replace', maxWaitMs: 9 }, delayMs: 10 },
      '/unique/maxWaitMs',
    ],
    [
      {
        unique: { while: 'queued', onConflict: 'replace', maxWaitMs: 9 },
        runAt: '2030-01-31T10:00:00Z',
      },
      '/unique/maxWaitMs',
    ],
    [{ expiresAt: '2030-01-31' }, '/expiresAt'],
    [{ expiresAt: '2030-01-31T10:00:00Z', runAt: '2030-01-31T12:00:00+02:00' }, '/expiresAt'],
    [{ skipValidation: 'yes' }, '/skipValidation'],
  ])('%j is refused at %s', (fields, pointer) => {
    expect(pointers(fields)).toEqual([pointer]);
  });
});

describe('a refusal', () => {
  it('lists everything that is wrong, with the nearest names', () => {
    const refusal = refusalOf(() =>
      parse({ definitonKey: 'a', priority: 'high', runAt: 1, delayMs: 1, params: { a: Infinity } }),
    );
    expect(refusal.code).toBe('VALIDATION_FAILED');
    expect(refusal.errors).toEqual([
      { pointer: '/definitionKey', detail: 'is required' },
      { pointer: '/priority', detail: 'must be a whole number from -1000000 to 1000000' },
      { pointer: '/runAt', detail: expect.stringContaining('ISO 8601') as string },
      {
        pointer: '/definitonKey',
        detail: 'unknown field "definitonKey": did you mean "definitionKey"?',
      },
      { pointer: '/delayMs', detail: 'delayMs and runAt exclude each other' },
      { pointer: '/params/a', detail: 'a number is too large for JSON' },
    ]);
    expect(refusal.message).toMatch(
      /^\/definitionKey: is required; \/priority: must .*; \/delayMs: .* exclude each other \(and 1 more\)$/,
    );
  });

  it.each([undefined, null, 5, 'x', [], true])('of the body %j has the empty pointer', (body) => {
    const refusal = refusalOf(() => parse(body));
    expect(refusal.errors).toEqual([{ pointer: '', detail: expect.any(String) as string }]);
  });

  it('refuses __proto__ as a field and inside params', () => {
    const body: unknown = JSON.parse('{"definitionKey":"a","__proto__":{"hold":true}}');
    expect(refusalOf(() => parse(body)).errors?.[0]?.pointer).toBe('/__proto__');
    const params: unknown = JSON.parse('{"a~/b":{"__proto__":1}}');
    const refusal = refusalOf(() => parse({ definitionKey: 'a', params }));
    expect(refusal.code).toBe('PAYLOAD_INVALID');
    expect(refusal.errors?.[0]?.pointer).toBe('/params/a~0~1b/__proto__');
  });

  it('is named by the gravest kind', () => {
    const large = { definitionKey: 'a', params: 'x'.repeat(200_000) };
    const deep = { definitionKey: 'a', params: [[[[[[[[[[[]]]]]]]]]]] };
    const codeOf = (...jobs: unknown[]) =>
      refusalOf(() => parseBatch({ jobs }, 'default', undefined)).code;
    expect(codeOf(large)).toBe('PAYLOAD_TOO_LARGE');
    expect(codeOf(large, deep)).toBe('PAYLOAD_INVALID');
    expect(codeOf(large, deep, {})).toBe('VALIDATION_FAILED');
  });
});

describe('the idempotency header', () => {
  it('is the key when the body has none, and may say the same', () => {
    expect(parse({ definitionKey: 'a' }, '"order 17"').idempotencyKey).toBe('order 17');
    expect(parse({ definitionKey: 'a', idempotencyKey: 'k' }, 'k').idempotencyKey).toBe('k');
  });

  it('may not contradict the body, nor be unreadable', () => {
    const body = { definitionKey: 'a', idempotencyKey: 'k' };
    expect(refusalOf(() => parse(body, 'other')).errors?.[0]?.pointer).toBe('/idempotencyKey');
    expect(refusalOf(() => parse(body, '"open')).errors?.[0]?.pointer).toBe('/idempotencyKey');
  });

  it('is refused on a batch', () => {
    const batch = { jobs: [{ definitionKey: 'a' }] };
    expect(refusalOf(() => parseBatch(batch, 'default', 'k')).code).toBe('VALIDATION_FAILED');
  });
});

describe('a batch', () => {
  const batch = (jobs: unknown) => parseBatch({ jobs }, 'default', undefined);

  it('keeps its order', () => {
    const keys = ['c', 'a', 'b'].map((definitionKey) => ({ definitionKey }));
    expect(batch(keys).map((job) => job.definitionKey)).toEqual(['c', 'a', 'b']);
  });

  it('holds 1 to 10,000 jobs', () => {
    const job = { definitionKey: 'a' };
    expect(batch(Array.from({ length: 10_000 }, () => job))).toHaveLength(10_000);
    for (const jobs of [[], Array.from({ length: 10_001 }, () => job), 'x', undefined]) {
      expect(refusalOf(() => batch(jobs)).errors?.[0]?.pointer).toBe('/jobs');
    }
  });

  it('points into the wrong entries', () => {
    const good = { definitionKey: 'a' };
    const wrong = [
      good,
      { ...good, priority: 'x' },
      5,
      { ...good, params: { __proto__x: Infinity } },
    ];
    expect(refusalOf(() => batch(wrong)).errors?.map(({ pointer }) => pointer)).toEqual([
      '/jobs/1/priority',
      '/jobs/2',
      '/jobs/3/params/__proto__x',
    ]);
  });

  it('stops looking when enough is wrong', () => {
    const refusal = refusalOf(() => batch(Array.from({ length: 10_000 }, () => ({}))));
    expect(refusal.errors).toHaveLength(FINDINGS_MAX);
  });
});
