import { expect, test } from 'vitest';
import { json, playAnswers, problem } from '../../test/support/servers/playing-server.ts';
import { Forbidden, Longshore, ProblemError, RateLimited, Unauthorized } from './index.ts';

const KEY = '1f0c528d0e4f0b9a';

test('keys, tenants and the audit log are asked for, for the tenant that was named', async () => {
  const made = json(201, { keyId: KEY, key: 'lsk_2', tenant: 'acme' });
  const gone = json(200, { keys: [], sessions: [], tenants: [], entries: [], nextCursor: null });
  const { url, seen } = await playAnswers(
    made,
    gone,
    made,
    ...Array.from({ length: 8 }, () => gone),
  );
  const client = new Longshore({ url, apiKey: 'lsk_1', tenant: 'acme' });
  expect(await client.keys.create({ name: 'ci', scopes: ['jobs:read'] })).toMatchObject({
    key: 'lsk_2',
  });
  expect(await client.keys.list()).toEqual([]);
  await client.keys.rotate(KEY, { overlapSeconds: 60 });
  await client.keys.revoke(KEY);
  expect(await client.sessions.list()).toEqual([]);
  await client.sessions.revoke(KEY);
  await client.tenants.create('acme');
  expect(await client.tenants.list()).toEqual([]);
  expect(await client.audit({ action: 'job.cancel', limit: 5 })).toMatchObject({ entries: [] });
  expect(await client.settings()).toMatchObject({ nextCursor: null });
  await client.get('01980000-0000-7000-8000-000000000000', { reveal: true });
  expect(seen.map(({ method, url: path }) => `${method} ${path}`)).toEqual([
    'POST /v1/keys?tenant=acme',
    'GET /v1/keys?tenant=acme',
    `POST /v1/keys/${KEY}/rotate?tenant=acme`,
    `DELETE /v1/keys/${KEY}?tenant=acme`,
    'GET /v1/sessions?tenant=acme',
    `DELETE /v1/sessions/${KEY}?tenant=acme`,
    'POST /v1/tenants',
    'GET /v1/tenants',
    'GET /v1/audit?action=job.cancel&limit=5&tenant=acme',
    'GET /v1/settings?tenant=acme',
    'GET /v1/jobs/01980000-0000-7000-8000-000000000000?reveal=true&tenant=acme',
  ]);
  expect(seen[0]?.body).toEqual({ name: 'ci', scopes: ['jobs:read'] });
  await expect(client.keys.revoke('..')).rejects.toMatchObject({ status: 404 });
  await expect(client.sessions.revoke('..')).rejects.toMatchObject({ status: 404 });
});

test.each([
  [401, Unauthorized],
  [403, Forbidden],
  [429, RateLimited],
] as const)('a refusal with %i has a class of its own', async (status, type) => {
  const { url } = await playAnswers(problem(status, 'NO', { 'retry-after': '7' }));
  const client = new Longshore({ url, retries: 0 });
  const error: unknown = await client.definitions().catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(type);
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status, code: 'NO', retryAfterMs: 7_000 });
});
