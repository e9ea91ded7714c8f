import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import {
  type Answer,
  json,
  playAnswers,
  problem,
} from '../../../test/support/servers/playing-server.ts';
import { Longshore } from '../index.ts';

const ID = '01980000-0000-7000-8000-000000000000';
const receipt = json(202, { jobId: ID, status: 'queued' });

test('a redirect is followed', async () => {
  const target = await playAnswers(receipt);
  const { url } = await playAnswers((response) => {
    response.writeHead(307, { location: `${target.url}/v1/jobs` }).end();
  });
  expect((await new Longshore({ url }).enqueue('work', { n: 1 })).id).toBe(ID);
  expect(target.seen).toMatchObject([{ method: 'POST', body: { params: { n: 1 } } }]);
});

test('an answer that breaks off is no answer', async () => {
  const breakOff: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"jobId":', () => response.destroy());
  };
  const { url, seen } = await playAnswers(breakOff, json(200, { jobId: ID }));
  expect(await new Longshore({ url }).get(ID)).toEqual({ jobId: ID });
  expect(seen).toHaveLength(2);
});

test('a character may arrive in two parts', async () => {
  const bytes = Buffer.from(JSON.stringify({ jobId: ID, note: 'é' }));
  const middle = bytes.indexOf(0xc3) + 1;
  const inParts: Answer = (response) => {
    response.write(bytes.subarray(0, middle), () => {
      setImmediate(() => response.end(bytes.subarray(middle)));
    });
  };
  const { url } = await playAnswers(inParts);
  expect(await new Longshore({ url }).get(ID)).toEqual({ jobId: ID, note: 'é' });
});

test('an idle connection is used again and does not keep the process alive', async () => {
  const { url, seen } = await playAnswers(receipt);
  const program = `
    import { Longshore } from 'longshore/client';
    const client = new Longshore({ url: '${url}' });
    await client.enqueue('work');
    await client.enqueue('work');
    setImmediate(() => console.log(JSON.stringify(process.getActiveResourcesInfo())));
  `;
  const args = ['--input-type=module', '--eval', program];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  expect(code).toBe(0);
  expect(JSON.parse(output)).not.toContain('TCPSocketWrap');
  const [first, second] = seen.map(({ port }) => port);
  expect(second).toBe(first);
});

test('a fetch of the caller gets every request', async () => {
  const { url } = await playAnswers(problem(503, 'UNAVAILABLE', { 'retry-after': '0' }), receipt);
  const urls: unknown[] = [];
  const own: typeof fetch = async (input, init) => {
    urls.push(input);
    return await fetch(input, init);
  };
  expect((await new Longshore({ url, fetch: own }).enqueue('work')).id).toBe(ID);
  expect(urls).toEqual([`${url}/v1/jobs`, `${url}/v1/jobs`]);
});
