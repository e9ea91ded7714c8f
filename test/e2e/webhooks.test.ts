import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Longshore, verifyWebhook } from '../../src/client/index.ts';
import { startJob } from '../support/api.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { endAll, FIXTURES, launch, run } from '../support/processes.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { type Receiver, startReceiver, status } from '../support/servers/receiver.ts';
import { until } from '../support/until.ts';

/**
 * Webhooks of a real cluster, by the command line, with workers that are killed at the worst moment. Its
 * processes have keys to encrypt with, from a file.
 */

let folder: string;
let database: TestDatabase;
let receiver: Receiver;
let env: Record<string, string>;

beforeEach(async () => {
  folder = await quickFolder('longshore-webhooks-');
  database = await testDatabase();
  receiver = await startReceiver();
  const keyFile = join(folder, 'keys');
  await writeFile(keyFile, `e2e:${randomBytes(32).toString('base64')}\n`);
  env = {
    LONGSHORE_ENCRYPTION_KEYS_FILE: keyFile,
    DATABASE_URL: database.url,
    LONGSHORE_DATA: join(folder, 'data'),
    LONGSHORE_JOBS: join(FIXTURES, 'jobs'),
    LONGSHORE_LEASE_MS: '2000',
    LONGSHORE_POLL_MS: '200',
    LONGSHORE_CONCURRENCY: '1',
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
    LONGSHORE_LOG_LEVEL: 'trace',
  };
});
afterEach(async () => {
  await endAll();
  await receiver.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

describe('an event', () => {
  it('is sent again with the same id when the worker was killed before it knew the answer', async () => {
    const api = await launch('api', { env });
    const { address } = api.summary;
    const url = `${receiver.url}?token=canary-of-the-url`;
    const made = await run([
      'webhooks',
      'create',
      url,
      '--event',
      'job.finished',
      '--url',
      address,
    ]);
    const [id = '', secret = ''] = made.stdout.split('\n');
    expect([made.code, secret]).toEqual([0, expect.stringMatching(/^whsec_/)]);

    // It arrives, but the worker never hears so.
    receiver.answerWith(() => undefined);
    const first = await launch('worker', { env });
    const jobId = await startJob(address, 'echo', { password: 'canary-of-the-job' });
    await receiver.have(1);
    first.signal('SIGKILL');
    await first.exited;
    receiver.answerWith(status(200, {}, 'thanks'));
    const second = await launch('worker', { env });
    const [one, two] = await receiver.have(2);
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    expect(two?.body).toBe(one?.body);
    const event = verifyWebhook(two?.body ?? '', two?.headers ?? {}, secret);
    expect(event).toMatchObject({ subject: jobId, data: { status: 'succeeded' } });

    const client = new Longshore({ url: address });
    const delivered = await until('it is delivered', async () => {
      const { deliveries } = await client.webhooks.deliveries(id);
      return deliveries[0]?.status === 'delivered' ? deliveries : null;
    });
    expect(delivered).toMatchObject([
      { id: event.id, jobId, attempts: [{ status: 200, responseBody: 'thanks' }] },
    ]);
    const [stored] = await database.sql<{ params: string; sent: string }>(
      `select j.params::text as params, s.value::text as sent from longshore.job j, longshore.step s
       where j.id = $1 and s.name = 'event'`,
      [jobId],
    );
    const sealed = expect.stringMatching(/^\{"\$sealed":"e2e\./) as string;
    expect(stored).toEqual({ params: sealed, sent: sealed });
    const again = await client.webhooks.redeliver(id, event.id);
    await receiver.have(3);
    const tested = await run(['webhooks', 'test', id, '--url', address]);
    await receiver.have(4);
    const listed = await run(['webhooks', 'deliveries', id, '--url', address]);
    expect(listed.stdout).toContain(again.deliveryId);
    expect(listed.stdout).toContain(tested.stdout.trim());
    const paused = await run(['webhooks', 'pause', id, '--url', address]);
    expect(paused.stdout.trim()).toBe(id);
    const all = await run(['webhooks', 'list', '--url', address]);
    expect(all.stdout).toContain('paused by hand');
    expect(all.stdout).toContain(id);
    expect((await run(['webhooks', 'delete', id, '--yes', '--url', address])).code).toBe(0);
    expect(await client.webhooks.list()).toEqual([]);

    const logged = [api, first, second].map(({ stderr }) => stderr()).join('');
    expect(logged).not.toMatch(/whsec_|canary/);
    expect(all.stdout + listed.stdout).not.toContain(secret);
  });
});
