import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './check/check.ts';
import { readHistory } from './history/read.ts';
import { MUTANTS, mutantOf } from './mutants/catalogue.ts';
import type { Mutant } from './mutants/mutant.ts';
import { mutantProfile } from './profiles.ts';
import { runChaos } from './run.ts';

/**
 * `npm run chaos:mutants`: does the checker have teeth? The product is broken in one way after the
 * other, each for a short run, and each mistake must be noticed. First of all comes the sound
 * product, about which there must be nothing to say. Names on the command line choose among them.
 */

interface Finding {
  name: string;
  caught: boolean;
  by: string[];
  example: string;
}

const ALL_FAULTS = { 'worker-kill': 1, 'success-stall': 1, 'worker-cut': 2, 'postmaster-kill': 1 };
const SEED = 1;

async function tryOut(name: string, mutant: Mutant | null): Promise<Finding> {
  const folder = await mkdtemp(join(tmpdir(), 'longshore-mutant-'));
  const { deck = ALL_FAULTS, mix = {}, liveness = mutant === null } = mutant ?? {};
  const { redis = false, server = false, remotes = 0, startUp = {}, deploys = 0 } = mutant ?? {};
  const profile = {
    ...mutantProfile(deck, mix, liveness),
    redis,
    server,
    remotes,
    startUp,
    deploys,
  };
  await runChaos({
    seed: SEED,
    minutes: profile.minutes,
    profile,
    folder,
    mutant: mutant?.name ?? null,
    say: () => undefined,
    signal: new AbortController().signal,
  });
  const { violations } = check(readHistory(folder));
  const by = [...new Set(violations.map(({ invariant }) => invariant))];
  const caught = mutant ? by.some((id) => mutant.caughtBy.includes(id)) : by.length === 0;
  const telling = violations.find(({ invariant }) => mutant?.caughtBy.includes(invariant) ?? true);
  const example = telling ? `${telling.invariant}: ${telling.text}` : '';
  if (caught) await rm(folder, { recursive: true });
  else process.stderr.write(`the history of ${name} is in ${folder}\n`);
  return { name, caught, by, example };
}

const names = process.argv.slice(2);
const chosen = names.length > 0 ? names.map(mutantOf) : MUTANTS;
const findings: Finding[] = [];
for (const mutant of names.length > 0 ? chosen : [null, ...chosen]) {
  const name = mutant?.name ?? 'nothing is broken';
  const finding = await tryOut(name, mutant);
  findings.push(finding);
  const verdict = finding.caught ? (mutant ? 'caught' : 'as it should be') : 'NOT CAUGHT';
  process.stdout.write(`${name}: ${verdict} ${finding.by.join(' ')}  ${finding.example}\n`);
}
const missed = findings.filter(({ caught }) => !caught);
process.stdout.write(
  `${findings.length - missed.length} of ${findings.length} as they should be\n`,
);
process.exit(missed.length === 0 ? 0 : 1);
