/**
 * Many jobs, six planted problems and three surprises, to look at: `npm run demo:problems -- 200000`.
 * What failed, why, how often, is it stuck, who owns it? Each has its answer within four clicks. Ctrl-C
 * ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, ended } from '../test/support/processes.ts';
import { plantProblems } from '../test/support/checks/problems.ts';
import { plantSurprises } from '../test/support/checks/surprises.ts';

const COUNT_DEFAULT = 200_000;
const count = Number(process.argv[2] ?? COUNT_DEFAULT);
if (!Number.isInteger(count) || count < 100) {
  throw new Error(
    'say how many jobs there shall be, at least 100: npm run demo:problems -- 200000',
  );
}

const folder = mkdtempSync(join(tmpdir(), 'longshore-problems-'));
/** The server has heard a Ctrl-C itself. */
const CTRL_C_GRACE_MS = 15_000;
const leave = async (graceMs = 0) => {
  await ended(graceMs);
  await endAll();
  rmSync(folder, { recursive: true, force: true });
};
process.once('SIGINT', () => void leave(CTRL_C_GRACE_MS).then(() => process.exit(130)));
process.once('SIGTERM', () => void leave().then(() => process.exit(143)));

try {
  console.log(`Making ${count.toLocaleString('en')} jobs and nine problems; this takes a while.`);
  const port = {
    LONGSHORE_PORT: process.env['LONGSHORE_PORT'] ?? '0',
    // The receiver of the webhook has a private address.
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  const { address } = await plantProblems(join(folder, 'data'), count, port);
  await plantSurprises(address);
  console.log(`Look at ${address}/ui/ and find them. Ctrl-C ends it.`);
} catch (error) {
  await leave();
  throw error;
}
