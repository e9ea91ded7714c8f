import { describe, expect, it } from 'vitest';
import { SECRET_BYTES_MAX, SECRETS_MAX } from '../../../src/core/access/secret.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';

const RING = `a:${Buffer.alloc(32, 7).toString('base64')}`;
const VALUE = 'canary-of-a-secret';

describe('/v1/secrets', () => {
  const app = sharedServer(sharedDatabase({ encryptionKeys: RING }));
  const call = async (method: string, path: string, payload?: unknown) =>
    await callAs(app, null, method, `/v1/secrets${path}`, payload === undefined ? {} : { payload });

  it('sets, lists and deletes, and returns no value', async () => {
    const set = await call('PUT', '/TOKEN', { value: VALUE });
    expect(set.status).toBe(200);
    expect(set.body).toMatchObject({
      name: 'TOKEN',
      definitionKey: null,
      updatedBy: 'anonymous (no keys)',
    });
    const own = await call('PUT', '/TOKEN', { value: VALUE, definitionKey: 'report' });
    expect(own.body).toMatchObject({ name: 'TOKEN', definitionKey: 'report' });
    await call('PUT', '/OTHER', { value: VALUE, definitionKey: 'other' });

    const names = async (query: string) => {
      const { body, text } = await call('GET', query);
      expect(text).not.toContain(VALUE);
      const { secrets } = body as { secrets: { name: string; definitionKey: string | null }[] };
      return secrets.map(({ name, definitionKey }) => `${name} ${definitionKey}`).sort();
    };
    expect(await names('')).toEqual(['OTHER other', 'TOKEN null', 'TOKEN report']);
    expect(await names('?definitionKey=report')).toEqual(['TOKEN null', 'TOKEN report']);

    expect((await call('DELETE', '/TOKEN?definitionKey=report')).status).toBe(204);
    const again = await call('DELETE', '/TOKEN?definitionKey=report');
    expect([again.status, again.body['detail']]).toEqual([
      404,
      'secret "TOKEN" of report not found',
    ]);
    expect(await names('')).toEqual(['OTHER other', 'TOKEN null']);
    const audit = await callAs(app, null, 'GET', '/v1/audit?subject=TOKEN');
    expect(audit.text).toContain('secret.delete');
    expect(audit.text).not.toContain(VALUE);
  });

  it.each([
    ['/NODE_OPTIONS', { value: VALUE }, '/name'],
    ['/LD_PRELOAD', { value: VALUE }, '/name'],
    ['/a-b', { value: VALUE }, '/name'],
    ['/A', {}, '/value'],
    ['/A', { value: '' }, '/value'],
    ['/A', { value: 7 }, '/value'],
    ['/A', { value: `${VALUE}\0` }, '/value'],
    ['/A', { value: 'x'.repeat(SECRET_BYTES_MAX + 1) }, '/value'],
    ['/A', { value: 'ü'.repeat(SECRET_BYTES_MAX / 2 + 1) }, '/value'],
    ['/A', { value: VALUE, definitionKey: '*' }, '/definitionKey'],
    ['/A', { value: VALUE, definition: 'report' }, '/definition'],
  ])('refuses %s with %o at %s, without repeating the value', async (path, payload, pointer) => {
    const { status, code, body, text } = await call('PUT', path, payload);
    expect([status, code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body['errors']).toMatchObject([{ pointer }]);
    expect(text).not.toContain(VALUE);
  });

  it('refuses more than a definition may have', async () => {
    for (let n = 0; n < SECRETS_MAX; n += 1) {
      await call('PUT', `/S${n}`, { value: VALUE, definitionKey: 'full' });
    }
    const { status, code } = await call('PUT', '/MORE', { value: VALUE, definitionKey: 'full' });
    expect([status, code]).toEqual([409, 'CONFLICT']);
  });
});

describe('a server without an encryption key', () => {
  const database = sharedDatabase();
  const app = sharedServer(database);

  it('stores no secrets, and says what to set', async () => {
    const payload = { value: VALUE };
    const { status, code, body } = await callAs(app, null, 'PUT', '/v1/secrets/A', { payload });
    expect([status, code]).toEqual([409, 'NO_ENCRYPTION_KEY']);
    expect(body['detail']).toContain('LONGSHORE_ENCRYPTION_KEYS');
    expect(await database.sql('select 1 from longshore.secret')).toEqual([]);
  });
});
