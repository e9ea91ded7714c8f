import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { children } from '../../harness/children.ts';
import { nowMs } from '../../harness/clock.ts';

const child = fileURLToPath(new URL('../../definitions/fork-child.ts', import.meta.url));
const definition = fileURLToPath(new URL('../../definitions/fresh.ts', import.meta.url));

/** Children per second that start, import the definition, say so and end; `inFlight` at a time. */
export async function forkRate(count: number, inFlight: number): Promise<number> {
  const startMs = nowMs();
  let left = count;
  const loop = async (): Promise<void> => {
    while (left-- > 0) await forkOnce();
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  return (count / (nowMs() - startMs)) * 1_000;
}

async function forkOnce(): Promise<void> {
  const process = fork(child, [definition], { stdio: 'ignore', detached: true });
  children.add(process);
  let ready = false;
  process.once('message', () => {
    ready = true;
  });
  await new Promise<void>((resolve, reject) => {
    process.once('error', reject);
    process.once('exit', () => (ready ? resolve() : reject(new Error('a forked child failed'))));
  });
}
