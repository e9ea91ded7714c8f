import { setTimeout as sleep } from 'node:timers/promises';
import { type JobHandle, type Longshore, NotFound } from '../../../../client/index.ts';
import { duration } from '../../../../core/values/duration.ts';
import { printable } from '../../../../core/values/printable.ts';
import type { Cli } from '../../../cli.ts';
import { exitCode } from '../../../exit-codes.ts';
import type { Output } from '../../../text/output.ts';

/** A definition whose file was just saved: `longshore dev` reloads for seconds on a busy machine. */
const REGISTER = { waitMs: 15_000, lookMs: 500 };

/** A job or a batch that waits for workers with its definitions. */
export interface Unheard {
  /** What the server says, such as `no worker has registered "helo": did you mean "hello"?`. */
  details: readonly string[];
  /** The definitions that no worker has registered. */
  keys: readonly string[];
  /** Words of the commands that show it and remove it, such as `show ID`. */
  commands: { show: string; cancel: string; follow: string };
  what: 'job' | 'batch';
  isServed(): Promise<boolean>;
}

/**
 * A job stays queued until a worker registers its definition, which may never happen. Waits a while for
 * it, but not if the name looks mistyped. Throws `NotFound` when it gives up.
 */
export async function awaitWorker(
  cli: Cli,
  out: Output,
  unheard: Unheard,
  timeoutMs: number | undefined,
  { waitMs, lookMs } = REGISTER,
): Promise<void> {
  const { details, keys, commands, what, isServed } = unheard;
  if (details.length === 0) return;
  const words = details.map((detail) => (/[?.]$/.test(detail) ? detail : `${detail}.`)).join(' ');
  if (timeoutMs !== undefined) {
    out.note(warningText(out, `${words} Waiting ${duration(timeoutMs)} for one.`));
    return;
  }
  const plain = keys.map((key) => `no worker has registered "${key}"`);
  // A longer text names the nearest definition, or versions and shapes that workers do have.
  if (details.every((detail) => plain.includes(detail))) {
    cli.onSignal = () => {
      out.note(`The ${what} is stored. Show it with: ${out.next(commands.show)}`);
      cli.exit(exitCode('interrupted'));
    };
    const yet = `${details.join(', ')} yet; waiting up to ${duration(waitMs)} for one`;
    out.note(warningText(out, yet));
    const untilMs = performance.now() + waitMs;
    do {
      if (await isServed()) return;
      await sleep(lookMs);
    } while (performance.now() < untilMs);
  }
  const runs =
    what === 'job'
      ? 'The job is stored and runs as soon as a worker registers its definition.'
      : 'The batch is stored, and these jobs run as soon as a worker registers their definition.';
  const next = `Remove it: ${out.next(commands.cancel)}. Follow it: ${out.next(commands.follow)}.`;
  throw new NotFound(404, 'UNREGISTERED', `${words} ${runs} ${next}`);
}

/** A job with the warnings of the server, as `awaitWorker` takes it. */
export function unheardJob(client: Longshore, handle: JobHandle, key: string): Unheard {
  const { id, warnings } = handle;
  return {
    details: warnings.map(({ detail }) => detail),
    keys: [key],
    commands: { show: `show ${id}`, cancel: `cancel ${id}`, follow: `logs ${id} --follow` },
    what: 'job',
    isServed: async () =>
      (await handle.get()).status !== 'queued' || (await registered(client)).includes(key),
  };
}

/** Empty for a key that is not allowed to read definitions. */
export async function registered(client: Longshore): Promise<string[]> {
  return (await client.definitions().catch(() => [])).map(({ key }) => key);
}

export function warningText(out: Output, detail: string): string {
  return `${out.paint('yellow', 'warning:', 'stderr')} ${printable(detail)}`;
}
