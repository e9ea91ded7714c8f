import { describe, expect, it } from 'vitest';
import { isUnavailable } from './db.ts';

function failure(code: string, message = 'boom'): Error {
  return Object.assign(new Error(message), { code });
}

describe('isUnavailable', () => {
  it.each([
    ['a lost connection', '08006'],
    ['a shutdown', '57P01'],
    ['a start', '57P03'],
    ['too many connections', '53300'],
    ['a full disk', '53100'],
    ['a disk that cannot be read', '58030'],
    ['a failover to a replica', '25006'],
    ['a deadlock', '40P01'],
    ['a cancelled statement', '57014'],
    ['a refused connection', 'ECONNREFUSED'],
  ])('is true of %s', (_, code) => {
    expect(isUnavailable(failure(code))).toBe(true);
  });

  it('is true of a Unix socket that is not there, and false of a missing file', () => {
    const missing = failure('ENOENT');
    expect(isUnavailable(missing)).toBe(false);
    expect(isUnavailable(Object.assign(missing, { syscall: 'connect' }))).toBe(true);
  });

  it.each([
    ['a value that cannot be stored', '22P05'],
    ['a violated constraint', '23505'],
    ['a wrong statement', '42601'],
  ])('is false of %s, which trying again does not mend', (_, code) => {
    expect(isUnavailable(failure(code))).toBe(false);
  });

  it("knows pg's own words, which come without a code", () => {
    expect(isUnavailable(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isUnavailable(new Error('Query read timeout'))).toBe(true);
    expect(isUnavailable('not an error')).toBe(false);
  });
});
