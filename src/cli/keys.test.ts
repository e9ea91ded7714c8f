import { describe, expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';
import type { KeyDesk } from '../app/keys-app.ts';

const ID = '1f0c528d0e4f0b9a';

/** A desk that writes down what it is asked. */
function desk(answers: Partial<Record<keyof KeyDesk, unknown>>) {
  const asked: unknown[][] = [];
  const part =
    (name: keyof KeyDesk) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args]);
      return answers[name] as never;
    };
  const place = { database: 'of a test', isServed: false };
  const names = ['create', 'list', 'revoke', 'rotate'] as const;
  const parts = Object.fromEntries(names.map((name) => [name, part(name)]));
  return { asked, desk: { ...place, ...parts } as unknown as KeyDesk };
}

describe('keys', () => {
  test('create prints the key alone, and says that it is shown once', async () => {
    const made = desk({ create: { keyId: ID, key: 'lsk_secret' } });
    const args = ['keys', 'create', '--scope', 'jobs:read,operate', '--scope', 'jobs:write'];
    const { code, stdout, stderr } = await run(
      [...args, '--name', 'ci', '--tenant', 'acme', '--expires-days', '2'],
      made,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'lsk_secret\n' });
    expect(stderr).toContain('shown only once');
    const scopes = ['jobs:read', 'operate', 'jobs:write'];
    const expiresAt = new Date('2030-01-03T00:01:00Z');
    expect(made.asked).toEqual([['create', { tenant: 'acme', name: 'ci', scopes, expiresAt }]]);
  });

  test('create lists the scopes in its help, and when none is given', async () => {
    const all = 'jobs:read, jobs:write, jobs:reveal, operate, worker, admin';
    const made = desk({});
    const { code, stderr } = await run(['keys', 'create'], made);
    expect(code).toBe(2);
    expect(stderr).toContain(`--scope is missing: give one or more of ${all}, separated by commas`);
    expect(made.asked).toEqual([]);
    const { stdout } = await run(['keys', 'create', '--help']);
    expect(stdout.replace(/\s+/g, ' ')).toContain(`scope of the key: ${all};`);
  });

  test('the first key of a server says what it changes', async () => {
    const create = ['keys', 'create', '--scope'];
    const answers = { create: { keyId: ID, key: 'lsk_secret' } };
    const first = await run([...create, 'admin'], desk({ ...answers, list: [] }));
    expect(first.stderr).toContain('from now on every call needs one');
    expect(first.stderr).toContain('in the database of a test. No server runs on it now.');
    const second = await run([...create, 'admin'], desk({ ...answers, list: [{}] }));
    expect(second.stderr).not.toContain('from now on');
  });

  test('create refuses patterns that are none, or that would limit nothing', async () => {
    const made = desk({ create: { keyId: ID, key: 'lsk_secret' }, list: [{}] });
    const create = ['keys', 'create', '--scope'];
    const bad = await run([...create, 'worker', '--definitions', 'no pattern!'], made);
    expect(bad).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pattern like report.*'),
    });
    const idle = await run([...create, 'jobs:read', '--definitions', 'a.*'], made);
    expect(idle).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs --scope worker'),
    });
    expect(made.asked).toEqual([]);
    await run([...create, 'worker', '--definitions', 'a.*,b'], made);
    expect(made.asked.at(-1)).toMatchObject(['create', { definitions: ['a.*', 'b'] }]);
  });

  test('list shows them, and no secret', async () => {
    const key = {
      keyId: ID,
      tenant: 'default',
      name: 'ci',
      scopes: ['admin'],
      status: 'revoked',
      createdAt: '2030-01-01T00:00:00Z',
    };
    const { stdout } = await run(['keys', 'list'], desk({ list: [key] }));
    expect(stdout).toBe(
      `ID                STATUS   AGE  NAME  SCOPES\n${ID}  revoked  1m   ci    admin\n`,
    );
  });

  test('rotate and revoke', async () => {
    const made = desk({ rotate: { keyId: '2', key: 'lsk_next' }, revoke: true });
    const rotated = await run(['keys', 'rotate', ID, '--overlap-seconds', '60'], made);
    expect(rotated).toMatchObject({ code: 0, stdout: 'lsk_next\n' });
    expect(await run(['keys', 'revoke', ID], made)).toMatchObject({ code: 0, stdout: `${ID}\n` });
    expect(made.asked).toEqual([
      ['rotate', 'default', ID, 60_000],
      ['revoke', 'default', ID],
    ]);
    const missing = desk({ rotate: null, revoke: false });
    expect((await run(['keys', 'revoke', ID], missing)).code).toBe(3);
    expect((await run(['keys', 'rotate', ID], missing)).code).toBe(3);
    expect((await run(['keys', 'rotate', ID], desk({ rotate: 'revoked' }))).code).toBe(5);
  });

  test('a server that is named by --url or LONGSHORE_URL is asked, and no database', async () => {
    const made = { keyId: ID, key: 'lsk_remote' };
    const { url, seen } = await playAnswers(
      json(200, { keys: [] }),
      json(201, made),
      json(200, { keys: [] }),
      json(201, made),
      json(204, null),
    );
    const env = { LONGSHORE_URL: url };
    const created = await run(['keys', 'create', '--scope', 'admin', '--name', 'ci', '--url', url]);
    expect(created).toMatchObject({ code: 0, stdout: 'lsk_remote\n' });
    expect((await run(['keys'], { env })).stderr).toBe('No keys.\n');
    expect(await run(['keys', 'rotate', ID], { env })).toMatchObject({ stdout: 'lsk_remote\n' });
    expect(await run(['keys', 'revoke', ID], { env })).toMatchObject({ stdout: `${ID}\n` });
    expect(seen.map(({ method, url: path, body }) => ({ method, path, body }))).toEqual([
      { method: 'GET', path: '/v1/keys', body: undefined },
      {
        method: 'POST',
        path: '/v1/keys',
        body: { name: 'ci', scopes: ['admin'], expiresAt: null },
      },
      { method: 'GET', path: '/v1/keys', body: undefined },
      { method: 'POST', path: `/v1/keys/${ID}/rotate`, body: { overlapSeconds: 86_400 } },
      { method: 'DELETE', path: `/v1/keys/${ID}`, body: undefined },
    ]);
  });

  test('what is wrong is said', async () => {
    const typo = await run(['keys', 'create', '--scope', 'admim']);
    expect(typo).toMatchObject({ code: 2, stderr: expect.stringContaining('"admin"') });
    expect((await run(['keys', 'create'])).code).toBe(2);
  });
});

describe('sessions', () => {
  const session = {
    sessionId: ID,
    tenant: 'default',
    keyId: null,
    keyName: null,
    user: { issuer: 'https://id', subject: '7', name: 'Ada', email: 'ada@example.com' },
    scopes: ['jobs:read', 'operate'],
    createdAt: '2029-12-31T23:01:00Z',
    seenAt: '2030-01-01T00:00:00Z',
    address: '10.0.0.7',
  };

  test('are listed with their users and keys, and revoked', async () => {
    const ofKey = { ...session, user: null, keyId: ID, keyName: 'ci', address: null };
    const { url, seen } = await playAnswers(
      json(200, { sessions: [session, ofKey] }),
      json(200, { sessions: [] }),
      json(204, null),
    );
    const env = { LONGSHORE_URL: url };
    const { stdout } = await run(['sessions', 'list'], { env });
    expect(stdout.split('\n')).toEqual([
      'ID                USED  AGE  USER             SCOPES             ADDRESS',
      `${ID}  1m    1h   ada@example.com  jobs:read,operate  10.0.0.7`,
      `${ID}  1m    1h   key ci           jobs:read,operate  -`,
      '',
    ]);
    expect((await run(['sessions'], { env })).stderr).toBe('No sessions.\n');
    expect(await run(['sessions', 'revoke', ID], { env })).toMatchObject({ stdout: `${ID}\n` });
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE', url: `/v1/sessions/${ID}` });
    expect((await run(['sessions', 'revoke', 'x'], { env })).code).toBe(3);
  });
});

describe('tenants and audit', () => {
  test('ask the server', async () => {
    const entry = {
      at: '2030-01-01T00:00:00.000Z',
      actor: `key:${ID}`,
      action: 'job.cancel',
      subject: 'j',
      before: { status: 'queued' },
      after: { status: 'cancelled' },
      address: null,
    };
    const { url, seen } = await playAnswers(
      json(201, { tenant: 'acme' }),
      json(200, {
        tenants: [
          { tenant: 'acme', concurrencyLimit: 4, inUse: 1, weight: 2, paused: {} },
          { tenant: 'default', concurrencyLimit: null, inUse: 0, weight: 1, paused: null },
        ],
      }),
      json(200, { entries: [entry], nextCursor: 'next' }),
    );
    const made = await run(['tenants', 'create', 'acme', '--url', url]);
    expect(made.stdout).toBe('acme\n');
    expect((await run(['tenants', 'list', '--url', url])).stdout).toBe(
      'TENANT   IN USE  LIMIT  WEIGHT  PAUSED\n' +
        'acme     1       4      2       yes\n' +
        'default  -       -      1       -\n',
    );
    const audit = await run(['audit', '--action', 'job.cancel', '--url', url]);
    expect(audit.stdout).toContain(
      `key:${ID}  job.cancel  j        -        {"status":"queued"} → {"status":"cancelled"}`,
    );
    expect(audit.stderr).toContain('--cursor next');
    expect(seen.map(({ url: path }) => path)).toEqual([
      '/v1/tenants',
      '/v1/tenants',
      '/v1/audit?action=job.cancel',
    ]);
  });
});
