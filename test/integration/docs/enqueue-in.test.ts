import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineJob, enqueueIn, IdempotencyConflict, InvalidRequest } from '../../../src/index.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { LIBRARIES, notTransactions } from '../../support/transactions.ts';
import { jobEnded, workerOn } from '../../support/servers/worker.ts';

/** Real libraries, real transactions: a commit makes a job that runs, a rollback none. */

const greet = defineJob({
  key: 'greet',
  isolation: 'inline',
  params: z.object({ name: z.string().min(1), 'a/b': z.array(z.number()).optional() }),
  run: ({ name }) => `hello ${name}`,
});

const database = sharedDatabase();
let stop: () => Promise<void>;
let orders = 0;

beforeAll(async () => {
  await database.sql('create table public."Order" (id int primary key)');
  const { worker, stop: end } = workerOn(database, { jobs: [greet] });
  await worker.start();
  stop = end;
});
afterAll(async () => await stop());

const jobs = async () =>
  (await database.sql<{ n: number }>('select count(*)::int as n from longshore.job'))[0]?.n;

describe.each(Object.entries(LIBRARIES))('enqueueIn with %s', (name, inTransaction) => {
  it('makes a job that runs once the transaction has committed', async () => {
    orders += 1;
    let jobId = '';
    const before = await jobs();
    await inTransaction(database.url, orders, async (tx) => {
      // @ts-expect-error: the params are held to the definition.
      const wrong = () => enqueueIn(tx, greet, { nam: 'x' });
      expect(wrong).toBeTypeOf('function');
      const receipt = await enqueueIn(tx, greet, { name: `"${name}" \\ 'é'` }, { priority: 3 });
      expect(receipt).toMatchObject({ status: 'queued', created: true });
      jobId = receipt.jobId;
      expect(await jobs()).toBe(before);
    });
    const { result } = await jobEnded(database, jobId);
    expect(result).toBe(`hello "${name}" \\ 'é'`);
  });

  it('makes none when it is rolled back', async () => {
    orders += 1;
    const before = await jobs();
    const broken = inTransaction(database.url, orders, async (tx) => {
      await enqueueIn(tx, 'greet', { name: 'rolled back' });
      throw new Error('changed my mind');
    });
    await expect(broken).rejects.toThrow('changed my mind');
    expect(await jobs()).toBe(before);
    expect(await database.sql('select 1 from "Order" where id = $1', [orders])).toEqual([]);
  });

  it('throws the errors of the client', async () => {
    orders += 1;
    const once = { idempotencyKey: name };
    const wrong = async (work: Parameters<typeof inTransaction>[2]) =>
      await inTransaction(database.url, orders, work).then(
        () => null,
        (error: unknown) => error,
      );
    const refused = await wrong(async (tx) => {
      await enqueueIn(tx, greet, { name: 'x' }, { priority: 0.5 });
    });
    expect(refused).toBeInstanceOf(InvalidRequest);
    expect(refused).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ pointer: '/priority', detail: expect.stringMatching(/^must be a whole number/) }],
    });
    const conflict = await wrong(async (tx) => {
      await enqueueIn(tx, greet, { name: 'a' }, once);
      await enqueueIn(tx, greet, { name: 'b' }, once);
    });
    expect(conflict).toBeInstanceOf(IdempotencyConflict);
  });
});

describe('enqueueIn', () => {
  it('holds params against the schema before it sends anything', async () => {
    const unused = { query: () => Promise.reject(new Error('nothing should be sent')) };
    const refused = enqueueIn(unused, greet, { name: '', 'a/b': [1, 'x' as never] });
    await expect(refused).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      errors: [{ pointer: '/params/name' }, { pointer: '/params/a~1b/1' }],
    });
    await expect(enqueueIn(unused, greet, { name: '' }, { skipValidation: true })).rejects.toThrow(
      'nothing should be sent',
    );
  });

  it('says that options are unknown or not possible, before it sends anything', async () => {
    const unused = { query: () => Promise.reject(new Error('nothing should be sent')) };
    const enqueue = async (options: object) =>
      await enqueueIn(unused, 'greet', { name: 'x' }, options).catch((error: unknown) => error);
    const pointer = '/after';
    expect(await enqueue({ after: ['a'] })).toBeInstanceOf(InvalidRequest);
    expect(await enqueue({ after: ['a'] })).toMatchObject({
      message: '/after: not possible in a transaction',
      errors: [{ pointer, detail: 'not possible in a transaction' }],
    });
    expect(await enqueue({ prioritty: 1 })).toMatchObject({
      message: '/prioritty: unknown field "prioritty": did you mean "priority"?',
    });
    expect(await enqueue({ after: undefined })).toMatchObject({
      message: 'nothing should be sent',
    });
    await expect(enqueueIn(unused, undefined as never)).rejects.toThrow(
      'definition is undefined: is it exported under this name?',
    );
    await expect(enqueueIn(undefined as never, 'greet')).rejects.toThrow(
      /^enqueueIn wants .*, not undefined$/,
    );
  });

  it('says that a database has no Longshore, with every library', async () => {
    const url = new URL(database.url);
    const name = `${url.pathname.slice(1)}_plain`;
    url.pathname = `/${name}`;
    await database.sql(`create database ${name} template template0`);
    const plain = new Client({ connectionString: url.href });
    await plain.connect();
    await plain.query('create table public."Order" (id int primary key)');
    await plain.end();
    for (const [library, inTransaction] of Object.entries(LIBRARIES)) {
      const work = inTransaction(url.href, 1, async (tx) => {
        await enqueueIn(tx, 'greet', { name: 'x' });
      });
      await expect(work, library).rejects.toThrow(
        'this database has no Longshore: start a server on it, or run longshore migrate',
      );
    }
    await database.sql(`drop database ${name} with (force)`);
  });

  it('refuses what is no transaction, rather than store the job apart from it', async () => {
    const before = await jobs();
    for (const [name, wrong, close] of notTransactions(database.url)) {
      await expect(enqueueIn(wrong as never, 'greet'), name).rejects.toThrow(/^enqueueIn wants/);
      await close();
    }
    expect(await jobs()).toBe(before);
  });
});
