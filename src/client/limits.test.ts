import { expect, test } from 'vitest';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';
import { Longshore } from './index.ts';

test('pauses and limits are asked for by their names', async () => {
  const answer = json(200, { resumed: null, pauses: [], weight: 2 });
  const { url, seen } = await playAnswers(...Array.from({ length: 6 }, () => answer));
  const { flow, tenants } = new Longshore({ url });
  await flow.pause({ definition: 'mail/send' }, 'a fire');
  await flow.pause({ all: true });
  expect(await flow.resume({ tenant: 'acme' })).toBeNull();
  expect(await flow.pauses()).toEqual([]);
  await flow.limit('mail/send', { concurrencyLimit: 0, rateLimit: null });
  expect(await tenants.limit('acme', { weight: 2 })).toMatchObject({ weight: 2 });
  expect(seen.map(({ method, url: path, body }) => [`${method} ${path}`, body ?? null])).toEqual([
    ['POST /v1/definitions/mail%2Fsend/pause', { reason: 'a fire' }],
    ['POST /v1/pause', {}],
    ['POST /v1/tenants/acme/resume', null],
    ['GET /v1/pauses', null],
    ['PATCH /v1/definitions/mail%2Fsend/limits', { concurrencyLimit: 0, rateLimit: null }],
    ['PATCH /v1/tenants/acme/limits', { weight: 2 }],
  ]);
  await expect(flow.pause({ tenant: '..' })).rejects.toThrow('no name');
});
