import { describe, expect, it } from 'vitest';
import { EventQuery, LogQuery } from './history-query.ts';
import { violations } from '../violations.ts';

describe('the query of a history', () => {
  it('has defaults, and reads numbers out of words', () => {
    expect(EventQuery.parse({})).toEqual({ limit: 200 });
    expect(LogQuery.parse({ attempt: '2', cursor: '1-0-5', limit: '1000' })).toEqual({
      attempt: 2,
      cursor: '1-0-5',
      limit: 1_000,
    });
  });

  it.each([
    [{ limit: '0' }, '/limit'],
    [{ limit: '1001' }, '/limit'],
    [{ limit: '1.5' }, '/limit'],
    [{ attempt: '0' }, '/attempt'],
    [{ attempt: '-1' }, '/attempt'],
    [{ attempt: ['1', '2'] }, '/attempt'],
    [{ cursor: '' }, '/cursor'],
  ])('%j is refused at %s', (query, pointer) => {
    const { error } = LogQuery.safeParse(query);
    expect(violations(error?.issues ?? [], 'query parameter').map((one) => one.pointer)).toEqual([
      pointer,
    ]);
  });

  it('names what was meant', () => {
    const { error } = EventQuery.safeParse({ limits: '5' });
    expect(violations(error?.issues ?? [], 'query parameter')).toEqual([
      { pointer: '/limits', detail: 'unknown query parameter "limits": did you mean "limit"?' },
    ]);
  });
});
