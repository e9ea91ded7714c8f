import { describe, expect, it } from 'vitest';
import { JobQuery, NoQuery, ProbeQuery } from './job-query.ts';
import { violations } from '../violations.ts';

const wrong = (query: object) => {
  const read = JobQuery.safeParse(query);
  return violations(read.error?.issues ?? [], 'query parameter');
};

describe('the query of GET /v1/jobs', () => {
  it('has defaults', () => {
    expect(JobQuery.parse({})).toEqual({ sort: '-createdAt', limit: 50 });
  });

  it('reads lists, numbers and times out of words', () => {
    const query = {
      status: ['queued', 'failed'],
      limit: '200',
      createdAfter: '2030-01-01T00:00:00+01:00',
    };
    expect(JobQuery.parse(query)).toMatchObject({
      status: ['queued', 'failed'],
      limit: 200,
      createdAfter: new Date('2029-12-31T23:00:00Z'),
    });
    expect(JobQuery.parse({ status: 'queued' }).status).toEqual(['queued']);
    expect(JobQuery.parse({ status: 'queued|failed' }).status).toEqual(['queued', 'failed']);
  });

  it.each(['$hook:image.resize', '$batch'])(
    'finds jobs of the system by their key %s',
    (definitionKey) => {
      expect(JobQuery.parse({ definitionKey })).toMatchObject({ definitionKey });
    },
  );

  it('combines a part of an id with a definition only', () => {
    const asked = { id: '3531b89f', definitionKey: '$batch' };
    expect(JobQuery.parse(asked)).toMatchObject(asked);
    expect(JobQuery.safeParse({ id: '3531b89f', tag: 'a' }).success).toBe(false);
  });

  it.each([
    [{ limit: '0' }, '/limit'],
    [{ limit: '201' }, '/limit'],
    [{ limit: '1e2' }, '/limit'],
    [{ limit: '' }, '/limit'],
    [{ limit: ['1', '2'] }, '/limit'],
    [{ sort: 'priority' }, '/sort'],
    [{ definitionKey: 'a b' }, '/definitionKey'],
    [{ definitionKey: '$hook:' }, '/definitionKey'],
    [{ definitionKey: '$other:a' }, '/definitionKey'],
    [{ tag: '' }, '/tag'],
    [{ tag: 'a\u0000' }, '/tag'],
    [{ createdBefore: 'yesterday' }, '/createdBefore'],
    [{ createdAfter: '2030-01-01T00:00:00 01:00' }, '/createdAfter'],
    [{ cursor: '' }, '/cursor'],
  ])('%j is refused at %s', (query, pointer) => {
    expect(wrong(query).map((violation) => violation.pointer)).toEqual([pointer]);
  });

  it('names what was meant', () => {
    expect(wrong({ status: ['queued', 'faild'], lmit: '5' })).toEqual([
      { pointer: '/status/1', detail: 'unknown status "faild": did you mean "failed"?' },
      { pointer: '/lmit', detail: 'unknown query parameter "lmit": did you mean "limit"?' },
    ]);
  });
});

describe('other queries', () => {
  it('are closed too', () => {
    expect(NoQuery.safeParse({}).success).toBe(true);
    expect(NoQuery.safeParse({ x: '1' }).success).toBe(false);
    expect(ProbeQuery.safeParse({ verbose: '' }).success).toBe(true);
    expect(ProbeQuery.safeParse({ verbose: 'maybe' }).success).toBe(false);
  });
});
