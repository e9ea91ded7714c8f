import { describe, expect, test } from 'vitest';
import { json, playAnswers } from '../../../test/support/servers/playing-server.ts';
import { type BatchOptions, Longshore } from '../index.ts';

/** What JavaScript lets pass, and the compiler refuses. */

const ID = '01980000-0000-7000-8000-000000000000';
const as = <T>(options: object) => options as T;

test('an unknown option of the client', () => {
  const url = 'http://127.0.0.1:4400';
  expect(() => new Longshore(as({ url, apikey: 'x' }))).toThrow(
    new TypeError('new Longshore: unknown option "apikey": did you mean "apiKey"?'),
  );
});

describe('no request is sent', () => {
  const option = (call: string, typed: string, meant: string) =>
    new TypeError(`${call}: unknown option "${typed}": did you mean "${meant}"?`);
  const missing = (value: string) =>
    new TypeError(`definition is ${value}: is it exported under this name?`);

  test.each<[what: string, call: (client: Longshore) => Promise<unknown>, error: TypeError]>([
    [
      'with an unknown option of a batch',
      async (client) => await client.batch([], as<BatchOptions>({ onSucces: { definition: 'a' } })),
      option('batch', 'onSucces', 'onSuccess'),
    ],
    [
      'with an unknown option of the result of a batch',
      async (client) => await client.batches.handle(ID).result(as({ poll: 5 })),
      option('result', 'poll', 'pollMs'),
    ],
    [
      'with an unknown option of wait',
      async (client) => await client.handle(ID).wait(as({ timeout: 5 })),
      option('wait', 'timeout', 'timeoutMs'),
    ],
    [
      'with an unknown option of result',
      async (client) => await client.handle(ID).result(as({ timeout: 5 })),
      option('result', 'timeout', 'timeoutMs'),
    ],
    [
      'for a job without a definition',
      async (client) => await client.enqueue(undefined as never, {}),
      missing('undefined'),
    ],
    [
      'for jobs without a definition',
      async (client) => await client.enqueueMany([{ definition: null as never }]),
      missing('null'),
    ],
    [
      'for a schedule without a definition',
      async (client) => await client.schedules.create(undefined as never, '@daily'),
      missing('undefined'),
    ],
  ])('%s', async (_, call, error) => {
    const { url, seen } = await playAnswers(json(200, { jobId: ID, status: 'succeeded' }));
    await expect(call(new Longshore({ url }))).rejects.toThrow(error);
    expect(seen).toEqual([]);
  });
});
