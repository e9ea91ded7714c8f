/**
 * Takes an artifact in a process of its own and stops at a step, so that a test can kill it there:
 * `node cache-child.ts FOLDER ARCHIVE SHA256 STEP COUNT BYTES_MAX`. It prints each fetch, the step
 * when it is there, and "held" when it has the artifact.
 */
import { createReadStream } from 'node:fs';
import { ArtifactCache } from '../../../src/artifacts/cache.ts';

const [folder = '', archive = '', sha256 = '', step = '', count = '1', bytesMax = '1e9'] =
  process.argv.slice(2);
let left = Number(count);

const cache = await ArtifactCache.open({
  folder,
  bytesMax: Number(bytesMax),
  async onStep(at) {
    if (at !== step) return;
    left -= 1;
    if (left > 0) return;
    process.stdout.write(`at ${at}\n`);
    await forever();
  },
});
await cache.take(sha256, async () => {
  process.stdout.write('fetch\n');
  return createReadStream(archive, { highWaterMark: 1_024 });
});
process.stdout.write('held\n');
await forever();

async function forever(): Promise<never> {
  return await new Promise<never>(() => setInterval(() => undefined, 60_000));
}
