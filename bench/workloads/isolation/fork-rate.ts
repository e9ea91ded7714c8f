import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { children } from '../../harness/children.ts';
import { nowMs } from '../../harness/clock.ts';

const empty = fileURLToPath(new URL('../../definitions/empty.js', import.meta.url));

/** Children per second that load an empty module and end; `inFlight` at a time. */
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
  const child = fork(empty, { stdio: 'ignore', detached: true });
  children.add(child);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a forked child ended with code ${code}`)),
    );
  });
}
