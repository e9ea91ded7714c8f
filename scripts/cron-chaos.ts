import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../src/postgres/embedded.ts';
import { silentLog } from '../src/runtime/log.ts';
import { migrate } from '../src/store/connection/migrate.ts';
import { cronChaos } from '../test/support/cron-chaos.ts';
import { endAll } from '../test/support/processes.ts';

/**
 * Kills schedulers at random under many schedules, and counts lost and doubled slots: there may be
 * none. `npm run cron-chaos -- SECONDS SCHEDULES SEED`; a short version is among the tests.
 */
const [seconds = 120, schedules = 1_000, seed = 1] = process.argv.slice(2).map(Number);
const folder = await mkdtemp(join(tmpdir(), 'longshore-cron-chaos-'));
const postgres = new EmbeddedPostgres({ dataDir: folder, log: silentLog });
await postgres.start();
try {
  await migrate({ url: postgres.url, log: silentLog, shards: 1 });
  const endMs = performance.now() + seconds * 1_000;
  const { faults, ...report } = await cronChaos({
    url: postgres.url,
    schedules,
    schedulers: 3,
    seed,
    goOn: () => performance.now() < endMs,
    note: (words) => process.stderr.write(`${words}\n`),
  });
  for (const fault of faults.slice(0, 50)) process.stdout.write(`${fault}\n`);
  process.stdout.write(`${JSON.stringify({ seconds, seed, ...report, faults: faults.length })}\n`);
  process.exitCode = faults.length === 0 && report.fired > 0 ? 0 : 1;
} finally {
  await endAll();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
