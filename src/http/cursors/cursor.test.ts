import { describe, expect, it } from 'vitest';
import { makeCursor, nextLink, readCursor, readLastEventId, readHistoryCursor } from './cursor.ts';

const JOB = '0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400';

describe('a cursor', () => {
  it.each(['-createdAt', 'createdAt'] as const)('leads on in its own sort %s', (sort) => {
    const cursor = makeCursor(sort, JOB);
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(readCursor(cursor, sort)).toBe(JOB);
  });

  it('is refused in another sort, which would skip jobs', () => {
    const cursor = makeCursor('createdAt', JOB);
    expect(() => readCursor(cursor, '-createdAt')).toThrow('belongs to sort=createdAt');
  });

  it.each([
    'x',
    JOB,
    `${makeCursor('createdAt', JOB)}x`,
    `${makeCursor('createdAt', JOB)}=`,
    makeCursor('createdAt', 'no id'),
    Buffer.from(`priority ${JOB}`).toString('base64url'),
  ])('%s is none', (cursor) => {
    expect(() => readCursor(cursor, 'createdAt')).toThrow('/cursor: ');
  });

  it('travels in a link that keeps the question', () => {
    const url = '/v1/jobs?status=queued&status=failed&cursor=old&tag=a%20b';
    expect(nextLink(url, 'new')).toBe(
      '</v1/jobs?status=queued&status=failed&cursor=new&tag=a+b>; rel="next"',
    );
    expect(nextLink('/v1/jobs', 'new')).toBe('</v1/jobs?cursor=new>; rel="next"');
  });
});

describe('a place in a history', () => {
  const isId = (text: string) => text === '1-0-0';

  it('is taken as it is, and refused when it is none', () => {
    expect(readHistoryCursor('1-0-0', isId)).toBe('1-0-0');
    expect(() => readHistoryCursor('x', isId)).toThrow('/cursor: is not a cursor of this API');
    expect(readLastEventId('1-0-0', isId)).toBe('1-0-0');
    expect(() => readLastEventId('x', isId)).toThrow('Last-Event-ID is not an id of this stream');
  });
});
