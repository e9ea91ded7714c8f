import { beforeAll, describe, expect, it, test } from 'vitest';
import { sharedDatabase } from '../../support/servers/database.ts';
import { type Answer, callAs, newKey, sharedServer } from '../../support/server-edge.ts';

describe('/v1/webhooks', () => {
  const database = sharedDatabase();
  const app = sharedServer(database, { webhookAllow: ['10.1.0.0/16'] });
  let key: string;

  beforeAll(async () => {
    ({ key } = await newKey(database, 'default', 'admin'));
  });

  const call = async (method: string, path = '', payload?: unknown): Promise<Answer> =>
    await callAs(app, key, method, `/v1/webhooks${path}`, { payload });
  const NEW_WEBHOOK = { url: 'https://1.1.1.1/hooks?token=canary', events: ['job.failed'] };

  it('shows the secret when it is made, and never again', async () => {
    const made = await call('POST', '', NEW_WEBHOOK);
    expect(made).toMatchObject({
      status: 201,
      body: {
        id: expect.any(String) as string,
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/=]{44}$/) as string,
      },
    });
    const { id, secret } = made.body as { id: string; secret: string };
    expect(made.headers['location']).toBe(`/v1/webhooks/${id}`);
    const rotated = await call('POST', `/${id}/rotate`, { overlapSeconds: 60 });
    expect(rotated.status).toBe(201);
    expect(rotated.body['secret']).not.toBe(secret);
    const shown = [
      await call('GET', `/${id}`),
      await call('GET'),
      await call('PATCH', `/${id}`, { description: 'mine' }),
      await call('GET', `/${id}/deliveries`),
      await callAs(app, key, 'GET', '/v1/audit'),
    ];
    for (const { status, text } of shown) {
      expect(status).toBe(200);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(String(rotated.body['secret']));
    }
    // The audit log keeps everything for ever, so the token in the path is not in it.
    expect(shown.at(-1)?.text).toContain('webhook.rotate');
    expect(shown.at(-1)?.text).not.toContain('canary');
    expect(shown[0]?.body).toEqual({
      id,
      tenant: 'default',
      ...NEW_WEBHOOK,
      format: 'cloudevents',
      description: null,
      definitionKeys: null,
      tags: null,
      status: 'active',
      notice: null,
      failures: 0,
      failingSince: null,
      lastError: null,
      waitingEvents: null,
      previousSecretUntil: rotated.body['previousSecretUntil'],
      createdAt: expect.any(String) as string,
      updatedAt: expect.any(String) as string,
    });
  });

  it('changes the given fields, and shows why one is not active', async () => {
    const { body } = await call('POST', '', {
      ...NEW_WEBHOOK,
      tags: ['red'],
      definitionKeys: ['a'],
    });
    const path = `/${String(body['id'])}`;
    const paused = await call('PATCH', path, { status: 'paused', tags: null });
    expect(paused.body).toMatchObject({
      ...NEW_WEBHOOK,
      tags: null,
      definitionKeys: ['a'],
      status: 'paused',
      notice: 'paused by hand',
    });
    const active = await call('PATCH', path, { status: 'active', events: ['onEnd', 'onStart'] });
    const events = ['job.finished', 'job.started'];
    expect(active.body).toMatchObject({ status: 'active', notice: null, events });
    expect((await call('DELETE', path)).status).toBe(204);
    for (const [method, more, payload] of [
      ['GET', ''],
      ['PATCH', '', { tags: null }],
      ['DELETE', ''],
      ['POST', '/rotate'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const) {
      expect((await call(method, `${path}${more}`, payload)).code).toBe('NOT_FOUND');
    }
  });

  test.each([
    ['http://127.0.0.1:8080/'],
    ['http://localhost:8080/'],
    ['http://[::1]/'],
    ['http://0x7f.1/'],
    ['http://2130706433/'],
    ['http://169.254.169.254/latest/meta-data/'],
    ['http://10.2.0.1/'],
    ['http://[64:ff9b::7f00:1]/'],
    ['https://user:pass@1.1.1.1/'],
    ['ftp://1.1.1.1/'],
    ['http://1.1.1.1:6379/'],
    ['nonsense'],
  ])('refuses to send to %s', async (url) => {
    const { body } = await call('POST', '', NEW_WEBHOOK);
    const path = `/${String(body['id'])}`;
    for (const refused of [
      await call('POST', '', { ...NEW_WEBHOOK, url }),
      await call('PATCH', path, { url }),
    ]) {
      expect(refused).toMatchObject({ status: 400, code: 'URL_NOT_ALLOWED' });
      expect(refused.body['errors']).toMatchObject([{ pointer: '/url' }]);
    }
    expect((await call('GET', path)).body['url']).toBe(NEW_WEBHOOK.url);
    await call('DELETE', path);
  });

  it('sends where the operator allows it', async () => {
    expect((await call('POST', '', { ...NEW_WEBHOOK, url: 'http://10.1.2.3/' })).status).toBe(201);
  });

  test.each([
    [{ events: ['job.fialed'] }, 'did you mean \\"job.failed\\"'],
    [{ events: [] }, 'must be a list'],
    [{ event: ['job.failed'] }, 'did you mean \\"events\\"'],
    [{ secret: 'mine' }, 'unknown field'],
    [{ definitionKeys: [] }, 'must be a list'],
    [{ url: 'https://1.1.1.1/\r\nx: y' }, 'control characters'],
  ])('refuses %j', async (wrong, words) => {
    const { status, text } = await call('POST', '', { ...NEW_WEBHOOK, ...wrong });
    expect([status, text]).toEqual([400, expect.stringContaining(words)]);
  });

  it('makes deliveries by hand, which wait for a worker', async () => {
    const { body } = await call('POST', '', NEW_WEBHOOK);
    const path = `/${String(body['id'])}`;
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      const made = await call('POST', `${path}/test`);
      expect(made.status).toBe(202);
      ids.unshift(String(made.body['deliveryId']));
    }
    const page = await call('GET', `${path}/deliveries?limit=2`);
    const { deliveries, nextCursor } = page.body as { deliveries: unknown[]; nextCursor: string };
    expect(deliveries).toMatchObject([
      { id: ids[0], event: 'webhook.test', status: 'pending', request: null, attempts: [] },
      { id: ids[1] },
    ]);
    expect(page.headers['link']).toContain(nextCursor);
    const rest = await call('GET', `${path}/deliveries?cursor=${nextCursor}`);
    expect(rest.body).toMatchObject({ deliveries: [{ id: ids[2] }], nextCursor: null });
    const unsent = await call('POST', `${path}/deliveries/${ids[0]}/redeliver`);
    expect([unsent.status, unsent.text]).toEqual([409, expect.stringContaining('never sent')]);
    const wrong = await call('POST', `${path}/deliveries/${String(body['id'])}/redeliver`);
    expect(wrong.code).toBe('NOT_FOUND');
    expect((await call('GET', `${path}/deliveries?cursor=x`)).code).toBe('VALIDATION_FAILED');
    // A delivery is a job, which lists leave out unless it is asked for.
    const job = await callAs(app, key, 'GET', `/v1/jobs/${ids[0]}`);
    expect(job.body).toMatchObject({ definitionKey: '$webhook', maxAttempts: 1 });
    const jobs = await callAs(app, key, 'GET', '/v1/jobs');
    expect(jobs.body['jobs']).toEqual([]);
  });
});
