import { describe, expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { json, playAnswers } from '../../test/support/servers/playing-server.ts';

const ID = '01980000-0000-7000-8000-000000000000';

describe('webhooks', () => {
  test.each([
    ['pause', 'paused'],
    ['resume', 'active'],
  ])('%s makes one %s', async (name, status) => {
    const { url, seen } = await playAnswers(json(200, { id: ID, status }));
    const { code, stdout } = await run(['webhooks', name, ID, '--url', url]);
    expect([code, stdout]).toEqual([0, `${ID}\n`]);
    expect(seen[0]).toMatchObject({ method: 'PATCH', url: `/v1/webhooks/${ID}`, body: { status } });
  });

  test('rotate prints the new secret alone, and says how long the old one counts', async () => {
    const answer = { id: ID, secret: 'whsec_new', previousSecretUntil: '2030-01-01T01:00:00Z' };
    const { url, seen } = await playAnswers(json(201, answer));
    const args = ['webhooks', 'rotate', ID, '--overlap-seconds', '60', '--url', url];
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([0, 'whsec_new\n']);
    expect(stderr).toContain('2030-01-01T01:00:00Z');
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: `/v1/webhooks/${ID}/rotate`,
      body: { overlapSeconds: 60 },
    });
  });

  test('list says that one fails, how often and why', async () => {
    const webhook = { id: ID, status: 'active', events: ['job.failed'], url: 'http://a/b' };
    const failing = { ...webhook, failures: 873, notice: null, lastError: 'no answer (X)' };
    const { url } = await playAnswers(json(200, { webhooks: [failing] }));
    const { stdout } = await run(['webhooks', 'list', '--url', url]);
    expect(stdout).toMatch(/failing, 873 in a row +job\.failed +http:\/\/a\/b +no answer \(X\)/);
  });

  test('create says which events there are when it does not know one', async () => {
    const args = ['webhooks', 'create', 'https://example.com', '--event', 'job.fail'];
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(/job\.failed/);
  });
});
