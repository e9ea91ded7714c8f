import { sleep } from '../deadline.ts';
import { findTagged, type NameTag, readTag } from './name-tag.ts';

/** Nothing that can die takes this long; what is left then hangs in the kernel. */
const SWEEP_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 5;

/**
 * Ends every process that carries a wanted tag, and resolves when they are gone, with the number of
 * those that would not go. They are stopped first, until a look finds no new one, and killed then:
 * a process that starts another whenever one dies would otherwise always be one ahead.
 *
 * A process is only touched when its tag was read right before, so that a number which by then
 * belongs to somebody else is left alone.
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
    // It was quicker.
  }
}
