import type { Batch, BatchHandle, Longshore } from '../../../../client/index.ts';
import { countsText } from '../../../../core/batch/batch.ts';
import { unregistered } from '../../../../core/definition/enqueue-warning.ts';
import type { Cli } from '../../../cli.ts';
import { exitCode } from '../../../exit-codes.ts';
import { LiveStatus } from '../../../text/live-status.ts';
import type { Output } from '../../../text/output.ts';
import { registered, type Unheard } from './await-worker.ts';

/** A file may name many wrong definitions; the first ones are enough to see it. */
const WARNINGS_MAX = 3;

/** Which definitions of a batch no worker has registered, as `awaitWorker` takes it. */
export async function unheardBatch(
  client: Longshore,
  id: string,
  asked: readonly string[],
): Promise<Unheard> {
  const known = new Map((await registered(client)).map((key) => [key, [1]]));
  // Without any definition, the key of the caller may not be allowed to read them.
  const keys = known.size === 0 ? [] : [...new Set(asked)].filter((key) => !known.has(key));
  const shown = keys.slice(0, WARNINGS_MAX);
  return {
    details: shown.map((key) => unregistered(key, null, known).detail),
    keys: shown,
    commands: {
      show: `batch show ${id}`,
      cancel: `batch cancel ${id}`,
      follow: `batch show ${id}`,
    },
    what: 'batch',
    isServed: async () => {
      const now = await registered(client);
      return keys.every((key) => now.includes(key));
    },
  };
}

/** Waits for the end of a batch; shows its counts on a terminal in a line that changes, elsewhere in lines. */
export async function waitForBatch(
  cli: Cli,
  out: Output,
  handle: BatchHandle,
  timeoutMs: number | undefined,
): Promise<Batch> {
  const status = new LiveStatus(out);
  cli.onSignal = () => {
    status.end();
    out.note(`The batch continues. Show it with: ${out.next(`batch show ${handle.id}`)}`);
    cli.exit(exitCode('interrupted'));
  };
  let told = -1;
  const onPoll = (batch: Batch) => {
    if (out.json) return;
    status.show(countsText(batch));
    // Elsewhere than on a terminal: a line for each tenth.
    const tenths = batch.total === 0 ? 10 : Math.floor((1 - batch.pending / batch.total) * 10);
    if (!out.isTerminal && tenths !== told && tenths < 10) out.note(countsText(batch));
    told = tenths;
  };
  try {
    return await handle.result({ timeoutMs, onPoll });
  } finally {
    status.end();
  }
}
