import { expect, it } from 'vitest';
import { playAnswers, problem } from '../../../test/support/servers/playing-server.ts';
import { CallRefused, RemoteCalls } from './remote-calls.ts';

async function refusal(key: string | null) {
  const { url } = await playAnswers(problem(401, 'UNAUTHORIZED'));
  const calls = new RemoteCalls(url, key);
  const call = calls.call({ method: 'GET', path: '/v1/workers', timeoutMs: 30_000 });
  const error: unknown = await call.catch((thrown: unknown) => thrown);
  calls.close();
  expect(error).toBeInstanceOf(CallRefused);
  return { url, message: (error as CallRefused).message };
}

it('a worker without a key says which variable has it; another one what the server said', async () => {
  const without = await refusal(null);
  expect(without.message).toBe(`${without.url} requires an API key: set LONGSHORE_API_KEY`);
  expect((await refusal('lsk_wrong')).message).not.toContain('LONGSHORE_API_KEY');
});
