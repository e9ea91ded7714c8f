import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { encryptionApp } from '../../../src/app/encryption-app.ts';
import { configOf } from '../../../src/config/options.ts';
import { SECRETS_MAX } from '../../../src/core/access/secret.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import {
  deleteSecret,
  listSecrets,
  NoEncryptionKey,
  putSecret,
  readSecrets,
  TooManySecrets,
} from '../../../src/store/access/secrets.ts';
import { listAudit } from '../../../src/store/access/audit.ts';
import { createKey } from '../../../src/store/access/keys.ts';
import { unpackLines } from '../../../src/store/attempt/log-data.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { FIXTURES } from '../../support/processes.ts';
import { allEvents } from '../../support/history.ts';
import { enqueueOne } from '../../support/jobs.ts';
import { newTenant } from '../../support/server-edge.ts';
import { sharedDatabase, testDatabase } from '../../support/servers/database.ts';
import { apiOn, type ApiServer, remoteWorker } from '../../support/servers/remote.ts';
import { type TestWorker, workerOn } from '../../support/servers/worker.ts';
import { until } from '../../support/until.ts';

const ringKey = (seed: string) => createHash('sha256').update(seed).digest('base64');
const RING = `2026:${ringKey('a')},2025:${ringKey('b')}`;
const JOBS = join(FIXTURES, 'secrets');
const BY = { name: 'key:test', address: null };
const TOKEN = 'token-of-default';
const RIVAL = 'token-of-acme';

const reversed = (text: string) => text.split('').reverse().join('');
const forAll = (name: string) => ({ name, definitionKey: null });

const database = sharedDatabase({ encryptionKeys: RING });

async function put(tenant: string, name: string, definitionKey: string | null, value: string) {
  return await putSecret(database.db, BY, tenant, { name, definitionKey }, value);
}

interface Told {
  plain: string;
  inContext?: string | null;
  inEnvironment: string | null;
  names?: string[];
  pid?: number;
}

async function run(tenant: string, key: string, params: object = {}) {
  const paramsJson = JSON.stringify(params);
  const id = await enqueueOne(database, { tenant, definitionKey: key, paramsJson });
  const job = await until(`${key} has ended`, async () => {
    const found = await getJob(database.db, tenant, id);
    return found?.finishedAt ? found : null;
  });
  return { id, job, told: job.result as Told };
}

/** Every row of every table as text, with the log lines as they were written. */
async function everyRow(): Promise<string> {
  const tables = await database.sql<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
     where c.relkind = 'r' and c.relnamespace = 'longshore'::regnamespace`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.sql<{ row: string }>(`select t::text as row from ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  const chunks = await database.sql<{ data: Buffer }>('select data from longshore.log_chunk');
  for (const { data } of chunks) texts.push(JSON.stringify(await unpackLines(data)));
  return texts.join('\n');
}

beforeAll(async () => {
  await newTenant(database, 'acme');
  await put('default', 'TOKEN', null, TOKEN);
  await put('acme', 'TOKEN', null, RIVAL);
});

describe('a worker', () => {
  let worker: TestWorker;
  beforeAll(async () => {
    worker = workerOn(database, { jobs: JOBS });
    await worker.worker.start();
  });
  afterAll(async () => await worker.stop());

  it.each(['process', 'fresh', 'thread'])('gives them to a job: %s', async (kind) => {
    const { told } = await run('default', `tell.${kind}`);
    const token = reversed(TOKEN);
    expect(told).toMatchObject({
      plain: '[redacted]',
      inContext: token,
      inEnvironment: token,
      names: ['TOKEN'],
    });
  });

  it('gives them to an inline job in its context only, because it shares the process', async () => {
    const { told } = await run('default', 'tell.inline');
    expect(told).toMatchObject({ inContext: reversed(TOKEN), inEnvironment: null });
  });

  it.each(['shell', 'python'])('gives them to a command: %s', async (kind) => {
    const { told } = await run('default', `tell.${kind}`);
    expect(told).toEqual({ plain: '[redacted]', inEnvironment: reversed(TOKEN) });
  });

  it('gives them to the hooks of a job', async () => {
    const { id } = await run('default', 'tell.hooked');
    const inHook = reversed(TOKEN);
    await until('the hook has run', async () =>
      JSON.stringify(await allEvents(database, id)).includes(inHook),
    );
  });

  it('shows those of a tenant to that tenant only, also in processes that another one used before', async () => {
    const kinds = ['process', 'fresh', 'thread', 'inline', 'shell', 'python', 'process'];
    for (const kind of kinds) {
      for (const [tenant, token] of [
        ['acme', RIVAL],
        ['default', TOKEN],
      ] as const) {
        const { told } = await run(tenant, `tell.${kind}`);
        expect([kind, told.inContext ?? told.inEnvironment]).toEqual([kind, reversed(token)]);
      }
    }
  });

  it('prefers that of the definition, follows a change, and uses another process for it', async () => {
    await put('default', 'TOKEN', 'tell.process', 'token-of-its-own');
    const own = await until('the own one arrives', async () => {
      const { told } = await run('default', 'tell.process');
      return told.inEnvironment === reversed('token-of-its-own') && told;
    });
    expect(own).toMatchObject({ plain: '[redacted]', inContext: reversed('token-of-its-own') });
    const other = await run('default', 'tell.other');
    expect(other.told.inEnvironment).toBe(reversed(TOKEN));
    expect(own.pid).not.toBe(other.told.pid);

    await deleteSecret(database.db, BY, 'default', {
      name: 'TOKEN',
      definitionKey: 'tell.process',
    });
    await until('the general one is back', async () => {
      const { told } = await run('default', 'tell.process');
      return told.inEnvironment === reversed(TOKEN);
    });
  });

  it('gives no process that has had secrets to a job without', async () => {
    await newTenant(database, 'bare');
    await put('bare', 'TOKEN', 'tell.process', 'token-of-one-definition');
    const given = await run('bare', 'tell.process');
    const without = await run('bare', 'tell.other');
    expect(given.told.inEnvironment).toBe(reversed('token-of-one-definition'));
    expect(without.told).toMatchObject({ inEnvironment: null, inContext: null, names: [] });
    expect(without.told.pid).not.toBe(given.told.pid);
  });

  it('masks them wherever a job repeats them, and stores none of them in plain', async () => {
    const { id, job } = await run('default', 'tell.process', { fail: true });
    expect(job.error).toMatchObject({
      message: 'failed [redacted]',
      cause: { message: 'cause [redacted]' },
    });
    const events = JSON.stringify(await allEvents(database, id));
    expect(events).toContain('"plain":"[redacted]"');
    const rows = await everyRow();
    for (const said of ['stdout', 'stderr', 'logger', 'progress']) {
      expect([said, rows.includes(`${said} [redacted]`)]).toEqual([said, true]);
    }
    for (const value of [TOKEN, RIVAL, 'token-of-its-own', 'token-of-one-definition']) {
      expect([value, rows.includes(value)]).toEqual([value, false]);
    }
  });

  it('fails a job whose secret does not open, and says which one', async () => {
    await newTenant(database, 'moved');
    const sealed = { tenant: 'moved', key: 'tell.inline', name: 'TOKEN' };
    await put('moved', 'TOKEN', 'tell.inline', 'moved-elsewhere');
    // A user of the database without the key: gives the secret to another definition.
    await database.sql(`update longshore.secret set key = 'tell.process' where tenant = $1`, [
      sealed.tenant,
    ]);
    const { job } = await run('moved', 'tell.process');
    expect(job).toMatchObject({ status: 'failed', error: { code: 'CANNOT_DECRYPT' } });
    expect(job.error?.message).toContain('the secret TOKEN cannot be decrypted');
    await deleteSecret(database.db, BY, 'moved', { name: 'TOKEN', definitionKey: 'tell.process' });
  });
});

describe('a worker over HTTP', () => {
  let api: ApiServer;
  let worker: { stop(): Promise<void> };
  beforeAll(async () => {
    api = await apiOn(database);
    const wanted = { tenant: 'acme', name: 'w', expiresAt: null, definitions: null };
    const made = await createKey(database.db, BY, { ...wanted, scopes: ['worker'] });
    const remote = remoteWorker(api.url, { jobs: JOBS, key: made.key });
    await remote.worker.start();
    worker = remote;
  });
  afterAll(async () => {
    await worker.stop();
    await api.close();
  });

  it.each(['process', 'inline', 'shell'])('gets those of its tenant: %s', async (kind) => {
    const { told } = await run('acme', `tell.${kind}`);
    expect(told.plain).toBe('[redacted]');
    expect(told.inContext ?? told.inEnvironment).toBe(reversed(RIVAL));
  });

  it('masks them, and learns of a change', async () => {
    const { job } = await run('acme', 'tell.process', { fail: true });
    expect(job.error?.message).toBe('failed [redacted]');
    await put('acme', 'TOKEN', null, 'token-of-acme-2');
    await until('it arrives', async () => {
      const { told } = await run('acme', 'tell.process');
      return told.inEnvironment === reversed('token-of-acme-2');
    });
    await put('acme', 'TOKEN', null, RIVAL);
    await until('it is as before', async () => {
      const { told } = await run('acme', 'tell.process');
      return told.inEnvironment === reversed(RIVAL);
    });
    expect(await everyRow()).not.toContain('token-of-acme');
  });
});

describe('the table of secrets', () => {
  it('is listed without values, by tenant and definition, and audited', async () => {
    await newTenant(database, 'listed');
    await put('listed', 'B', 'report', 'value-of-b');
    const made = await put('listed', 'A', null, 'value-of-a');
    expect(made).toEqual({
      name: 'A',
      definitionKey: null,
      createdAt: made.updatedAt,
      updatedAt: made.updatedAt,
      updatedBy: 'key:test',
    });
    const changed = await put('listed', 'A', null, 'value-of-a-2');
    expect(changed).toMatchObject({ createdAt: made.createdAt });
    const names = async (key: string | null) =>
      (await listSecrets(database.db, 'listed', key)).map(({ name }) => name);
    expect(await names(null)).toEqual(['A', 'B']);
    expect(await names('report')).toEqual(['A', 'B']);
    expect(await names('other')).toEqual(['A']);
    expect(await readSecrets(database.db, 'listed', 'report')).toEqual({
      A: 'value-of-a-2',
      B: 'value-of-b',
    });
    expect(await deleteSecret(database.db, BY, 'listed', forAll('B'))).toBe(false);
    expect(await deleteSecret(database.db, BY, 'listed', forAll('A'))).toBe(true);
    const filter = { actor: null, action: null, subject: null, after: null, before: null };
    const { entries } = await listAudit(database.db, {
      ...filter,
      tenant: 'listed',
      text: null,
      afterId: null,
      limit: 10,
    });
    expect(entries.map(({ action }) => action)).toEqual([
      'secret.delete',
      'secret.change',
      'secret.create',
      'secret.create',
      'tenant.create',
    ]);
    expect(JSON.stringify(entries)).not.toContain('value-of');
  });

  it('is limited in number, also when two calls want the last place', async () => {
    await newTenant(database, 'many');
    const all = Array.from({ length: SECRETS_MAX - 1 }, async (_, n) =>
      put('many', `S${n}`, null, 'x'),
    );
    await Promise.all(all);
    const last = await Promise.allSettled([
      put('many', 'LAST', null, 'x'),
      put('many', 'LAST2', null, 'x'),
    ]);
    expect(last.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [refused] = last.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: expect.any(TooManySecrets) as unknown });
    // The value of one that is there can always change.
    await put('many', 'S0', null, 'y');
    await put('many', 'OWN', 'report', 'x');
  });

  it('takes nothing without an encryption key', async () => {
    const plain = await testDatabase();
    try {
      const setting = putSecret(plain.db, BY, 'default', forAll('A'), 'x');
      await expect(setting).rejects.toThrow(NoEncryptionKey);
    } finally {
      await plain.close();
    }
  });

  it('is sealed again with a new key', async () => {
    await newTenant(database, 'sealed');
    await put('sealed', 'A', 'report', 'value-to-reseal');
    const newRing = `2027:${ringKey('c')},${RING}`;
    const config = configOf({ databaseUrl: database.url, encryptionKeys: newRing }, []);
    const report = await encryptionApp(config, silentLog, { reseal: true });
    expect(report.unopened).toBe(0);
    const left = await database.sql<{ n: number }>(
      `select count(*)::int as n from longshore.secret where value not like '{"$sealed":"2027.%'`,
    );
    expect(left).toEqual([{ n: 0 }]);
    const url = database.url;
    const db = Db.open({ clock: systemClock, url, log: silentLog, encryptionKeys: newRing });
    try {
      expect(await readSecrets(db, 'sealed', 'report')).toEqual({ A: 'value-to-reseal' });
    } finally {
      await db.close();
    }
  });
});
