import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { check } from './check/check.ts';
import { readHistory } from './history/read.ts';
import { type Options, parseOptions, USAGE, UsageError } from './options.ts';
import { profileOf } from './profiles.ts';
import { reportOn } from './report.ts';
import { runChaos } from './run.ts';

/**
 * `npm run chaos`: a small cluster of real processes under load and under fire, and then a verdict
 * over what it left behind. docs/reliability.md says what is promised and how to read the verdict.
 */
async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2), Math.floor(Date.now() / 1_000));
  if (options.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  if (options.check !== undefined) return judge(options.check);
  const folder = resolve(options.folder ?? (await mkdtemp(join(tmpdir(), 'longshore-chaos-'))));
  await run(options, folder);
  const status = judge(folder);
  // The files of a run that found something are worth more than the disk they take.
  if (status === 0 && options.folder === undefined) await rm(folder, { recursive: true });
  else process.stderr.write(`the history is in ${folder}; --check judges it again\n`);
  return status;
}

async function run({ seed, minutes, profile: name, mutant }: Options, folder: string) {
  const profile = profileOf(name);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stop.abort(new Error(`stopped by ${signal}`)));
  }
  const say = (text: string) => process.stderr.write(`${text}\n`);
  say(`chaos: seed ${seed}, profile ${name}`);
  await runChaos({
    seed,
    minutes: minutes ?? profile.minutes,
    profile,
    folder,
    mutant: mutant ?? null,
    say,
    signal: stop.signal,
  });
}

function judge(folder: string): number {
  const verdict = check(readHistory(folder));
  process.stdout.write(reportOn(verdict));
  return verdict.violations.length === 0 ? 0 : 1;
}

try {
  process.exit(await main());
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}\n`);
  process.exit(2);
}
