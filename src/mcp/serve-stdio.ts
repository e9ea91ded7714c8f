import type { Readable, Writable } from 'node:stream';
import { type Caller, createServer } from './create-server.ts';
import type { Plan } from './plan.ts';
import { loadStdioSdk } from './sdk.ts';

export interface Streams {
  stdin: Readable;
  stdout: Writable;
  onError: (error: Error) => void;
}

/** Serves one client on the two streams until one of them, or the signal, ends it. */
export async function serveStdio(
  caller: Caller,
  plan: Plan,
  now: () => Date,
  { stdin, stdout, onError }: Streams,
  stop: AbortSignal,
): Promise<void> {
  const sdk = await loadStdioSdk();
  const transport = new sdk.StdioServerTransport(stdin, stdout);
  const create = async () => await createServer(sdk, caller, plan, now);
  const handle = sdk.serveStdio(create, { transport, onerror: onError });
  await new Promise<void>((resolve) => {
    stdin.once('close', resolve).once('end', resolve);
    stdout.once('close', resolve);
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  await handle.close();
}
