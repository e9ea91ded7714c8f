import { describe, expect, it } from 'vitest';
import {
  effectiveSecrets,
  SECRET_BYTES_MAX,
  SECRET_NAME_RULE,
  secretNameProblem,
  secretRoomProblem,
  SECRETS_BYTES_MAX,
  SECRETS_MAX,
  secretValueProblem,
  TENANT_SECRETS_MAX,
} from './secret.ts';

describe('the name of a secret', () => {
  it.each(['API_KEY', 'token', '_x', 'NODE_AUTH_TOKEN', 'PATHS', 'A'.repeat(128)])(
    'may be %s',
    (name) => expect(secretNameProblem(name)).toBeNull(),
  );

  it.each(['', '1A', 'A-B', 'A B', 'A=B', 'Ä', 'A\n', 'A'.repeat(129), 'A '])(
    'must be that of a variable: not %j',
    (name) => expect(secretNameProblem(name)).toBe(SECRET_NAME_RULE),
  );

  it.each([
    'PATH',
    'Path',
    'HOME',
    'NODE_OPTIONS',
    'BASH_ENV',
    'PYTHONPATH',
    'TRACEPARENT',
    '__proto__',
  ])('must not be %s', (name) => expect(secretNameProblem(name)).toContain('reserved'));

  it.each(['LD_PRELOAD', 'DYLD_INSERT_LIBRARIES', 'LONGSHORE_JOB_ID', 'longshore_x'])(
    'must not begin like %s',
    (name) => expect(secretNameProblem(name)).toContain('must not begin with'),
  );
});

it('refuses values that no variable can have, and long ones', () => {
  expect(secretValueProblem('a\nb=ü', 6)).toBeNull();
  expect(secretValueProblem('', 0)).toContain('1 to');
  expect(secretValueProblem('x', SECRET_BYTES_MAX + 1)).toContain('1 to');
  expect(secretValueProblem('a\0b', 3)).toContain('NUL');
  expect(secretValueProblem('\uD800', 3)).toContain('Unicode');
});

it('limits number and size', () => {
  const full = { ofScope: SECRETS_MAX, bytesOfScope: SECRETS_BYTES_MAX, ofTenant: 1 };
  expect(secretRoomProblem({ ...full, ofTenant: TENANT_SECRETS_MAX })).toBeNull();
  expect(secretRoomProblem({ ...full, ofScope: SECRETS_MAX + 1 })).toContain('definition');
  expect(secretRoomProblem({ ...full, bytesOfScope: SECRETS_BYTES_MAX + 1 })).toContain('bytes');
  expect(secretRoomProblem({ ...full, ofTenant: TENANT_SECRETS_MAX + 1 })).toContain('tenant');
});

it('prefers the secret of the definition to the one for all', () => {
  const own = { name: 'A', definitionKey: 'report', value: 'own' };
  const general = { name: 'A', definitionKey: null, value: 'general' };
  const other = { name: 'B', definitionKey: null, value: 'b' };
  expect(effectiveSecrets([own, general, other])).toEqual({ A: 'own', B: 'b' });
  expect(effectiveSecrets([general, own])).toEqual({ A: 'own' });
  expect(effectiveSecrets([])).toEqual({});
});
