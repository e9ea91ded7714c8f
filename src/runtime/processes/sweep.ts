import { sleep } from '../deadline.ts';
import { findTagged, type NameTag, readTag } from './name-tag.ts';

/** A process that is still there after this time hangs in the kernel. */
const SWEEP_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 5;

/**
 * Ends every process with a wanted tag, and resolves with the number that did not exit. All are
 * stopped until no new one is found, and then killed: otherwise a process that starts another
 * whenever one dies would stay ahead.
 *
 * The tag is read right before each signal, so that a reused pid is left alone.
 */
export async function sweep(
  wanted: (tag: NameTag) => boolean,
  after: number | null = null,
): Promise<number> {
  const endMs = performance.now() + SWEEP_MS_MAX;
  const stopped = new Set<number>();
  for (;;) {
    const found = await findTagged(wanted, after);
    const running = [...found.keys()].filter((pid) => !stopped.has(pid));
    if (running.length === 0 || performance.now() > endMs) break;
    for (const pid of running) {
      send(pid, 'SIGSTOP', wanted);
      stopped.add(pid);
    }
  }
  if (stopped.size === 0) return 0;
  for (;;) {
    const left = await findTagged(wanted, after);
    if (left.size === 0 || performance.now() > endMs) return left.size;
    for (const pid of left.keys()) send(pid, 'SIGKILL', wanted);
    await sleep(LOOK_AGAIN_MS);
  }
}

function send(pid: number, signal: NodeJS.Signals, wanted: (tag: NameTag) => boolean): void {
  const tag = readTag(pid);
  if (tag === null || !wanted(tag)) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It had already exited.
  }
}
