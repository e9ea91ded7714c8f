import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import { publishDefinitions } from '../../../src/store/enqueue/definitions.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { callAs, sharedServer } from '../../support/server-edge.ts';

/** Params are held against what is published of their definition, at every door. */
const database = sharedDatabase();
const app = sharedServer(database);

beforeAll(async () => {
  const { db } = database;
  const paramsSchema = z.toJSONSchema(z.object({ width: z.int() }));
  const letter = z.object({ subject: z.string(), to: z.email(), at: z.string().optional() });
  await publishDefinitions(db, [
    definitionInfo({ key: 'resize' }, { paramsSchema: null }),
    definitionInfo({ key: 'resize', version: 2 }, { paramsSchema }),
    definitionInfo({ key: 'mail' }, { paramsSchema: z.toJSONSchema(letter) }),
  ]);
});

it('an address that is none is refused at once', async () => {
  const answer = await call('POST', '/v1/jobs', {
    definitionKey: 'mail',
    params: { subject: 'hello', to: 'amy' },
  });
  expect([answer.status, answer.body]).toEqual([
    400,
    expect.objectContaining({
      code: 'PAYLOAD_INVALID',
      errors: [{ pointer: '/params/to', detail: 'must be an e-mail address' }],
    }),
  ]);
});

it('the fields of a schema keep the order of the code', async () => {
  const { body } = await callAs(app, null, 'GET', '/v1/definitions');
  const { definitions } = body as { definitions: { key: string; paramsSchema: unknown }[] };
  const schema = definitions.find(({ key }) => key === 'mail')?.paramsSchema;
  expect(Object.keys((schema as { properties: object }).properties)).toEqual([
    'subject',
    'to',
    'at',
  ]);
});

const count = async () => (await database.sql('select from longshore.job')).length;

const call = async (method: 'POST' | 'PATCH', url: string, payload?: object) =>
  await callAs(app, null, method, url, { payload });

async function misfit(url: string, body?: object, method: 'POST' | 'PATCH' = 'POST') {
  const before = await count();
  const answer = await call(method, url, body);
  expect([answer.status, answer.body['code']]).toEqual([400, 'PAYLOAD_INVALID']);
  expect(await count()).toBe(before);
  return answer.body['errors'];
}

const BAD = { width: 'wide' };
const says = (pointer: string) => [{ pointer, detail: 'must be integer' }];

describe('params that do not fit their definition', () => {
  it('are refused, with a pointer into the body', async () => {
    const body = { definitionKey: 'resize', params: BAD };
    expect(await misfit('/v1/jobs', body)).toEqual(says('/params/width'));
    expect(await misfit('/jobs', { jobType: 'resize', payload: BAD })).toEqual(
      says('/payload/width'),
    );
    const other = { type: 'resize', payload: BAD };
    expect(await misfit('/jobber/queue', other)).toEqual(says('/payload/width'));
    expect(await misfit('/api/jobs/enqueue', other)).toEqual(says('/payload/width'));
  });

  it('refuse a whole batch', async () => {
    const good = { definitionKey: 'resize', params: { width: 1 } };
    const jobs = [good, { ...good, params: BAD }, good, { ...good, params: {} }];
    expect(await misfit('/v1/jobs/batch', { jobs })).toEqual([
      { pointer: '/jobs/1/params/width', detail: 'must be integer' },
      { pointer: '/jobs/3/params/width', detail: 'is required' },
    ]);
  });

  it('pass where nothing is published for their version, or the caller says so', async () => {
    const body = { definitionKey: 'resize', params: BAD };
    for (const more of [{ definitionVersion: 1 }, { definitionVersion: 3 }]) {
      expect((await call('POST', '/v1/jobs', { ...body, ...more })).status).toBe(202);
    }
    const skipping = { ...body, skipValidation: true };
    expect((await call('POST', '/v1/jobs', skipping)).status).toBe(202);
    const seed004 = { type: 'resize', payload: BAD, skipValidation: true };
    expect((await call('POST', '/api/jobs/enqueue', seed004)).status).toBe(202);
    const deep = { ...skipping, params: JSON.parse('[[[[[[[[[[[1]]]]]]]]]]]') as unknown };
    await misfit('/v1/jobs', deep);
  });

  it('are refused for schedules: made, changed, and triggered', async () => {
    const spec = { definitionKey: 'resize', cron: '@daily', params: { width: 1 } };
    expect(await misfit('/v1/schedules', { ...spec, params: BAD })).toEqual(says('/params/width'));
    const old = { ...spec, definitionVersion: 1, params: BAD };
    const made = await call('POST', '/v1/schedules', old);
    expect(made.status).toBe(201);
    const url = `/v1/schedules/${String(made.body['id'])}`;
    expect(await misfit(url, { definitionVersion: 2 }, 'PATCH')).toEqual(says('/params/width'));
    expect((await call('PATCH', url, { priority: 1 })).status).toBe(200);
    expect((await call('POST', `${url}/trigger`)).status).toBe(202);
    await database.sql('update longshore.schedule set definition_version = 2');
    expect(await misfit(`${url}/trigger`)).toEqual(says('/params/width'));
    const mended = { params: { width: 5 } };
    expect((await call('PATCH', url, mended)).status).toBe(200);
    expect((await call('POST', `${url}/trigger`)).status).toBe(202);
  });
});
