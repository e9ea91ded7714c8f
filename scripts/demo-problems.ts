/**
 * Many jobs, five planted problems and three surprises, to look at: `npm run demo:problems -- 200000`.
 * What failed, why, how often, is it stuck, who owns it? Each has its answer within four clicks. Ctrl-C
 * ends it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll } from '../test/support/processes.ts';
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
const leave = async () => {
  await endAll();
  rmSync(folder, { recursive: true, force: true });
};
process.once('SIGINT', () => void leave());
process.once('SIGTERM', () => void leave());

try {
  console.log(`Making ${count.toLocaleString('en')} jobs and eight problems; this takes a while.`);
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
