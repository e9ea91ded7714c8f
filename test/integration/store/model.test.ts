import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BUILT_MOVES } from '../../support/checks/built-moves.ts';
import {
  postgresVersions,
  testDatabase,
  type TestDatabase,
} from '../../support/servers/database.ts';
import { STEPS } from '../../support/model/steps.ts';
import { World } from '../../support/model/world.ts';
import { expectTrueCounters } from '../../support/checks/counters.ts';

/**
 * The whole store against a model of it. Each run begins with an empty queue and takes up to two
 * hundred random steps, legal and illegal: stale claims, dead workers, keys used before, ids that
 * never were. After each step everything that the store answered, and every row that it has, must
 * be what the model says (`test/support/model/model.ts`); what a step has no business with must be
 * the same to the letter. At the end of a run the counters of jobs must say what a count says.
 *
 * Runs follow each other on one connection at a time: races are the matter of `interleaving*.test.ts`
 * and of the chaos runs. A failure prints `{ seed, path }` and the fewest steps that show it, with
 * their `replayPath`. To see just that run again:
 *
 *     npm run model -- --seed=-445919933 --path=3:1:0:0:0 --replay-path=F:B
 *
 * and for a long search, `npm run model -- --runs=5000`.
 */
const DEFAULT_RUNS = 100;
/** CI takes the same runs each time; `npm run model -- --runs=N` takes others. */
const CI_SEED = 20_261_115;
const STEPS_MAX = 200;
/** Far more than it takes; after it, a failure is reported without further shrinking. */
const PATIENCE_MS_PER_RUN = 4_000;

const { LONGSHORE_MODEL_RUNS, LONGSHORE_MODEL_SEED, LONGSHORE_MODEL_PATH } = process.env;
const replayPath = process.env['LONGSHORE_MODEL_REPLAY_PATH'];
const versions = postgresVersions();
const runs = Math.ceil(Number(LONGSHORE_MODEL_RUNS ?? DEFAULT_RUNS) / versions.length);
const chosenSeed = LONGSHORE_MODEL_SEED ?? (LONGSHORE_MODEL_RUNS ? null : CI_SEED);
const seed = chosenSeed === null ? null : Number(chosenSeed);
const patienceMs = Math.max(60_000, runs * PATIENCE_MS_PER_RUN);

/** What must have been tried when all is over, besides every move that is built. */
const MUST_HAPPEN = [
  'new -> created',
  'new -> scheduled',
  'new -> queued',
  'a repeated key is answered with the first job',
  'a key with other params is refused',
  'a worker that is dead or leaving claims nothing',
  'an outcome is refused: a newer claim owns it',
  'an outcome is refused: the state has changed',
  'an outcome is refused: the job has no owner',
  'an outcome is refused: no such job',
  'a batch that cannot be written leaves no trace',
  'a settleAndClaim is refused what its claim does not own',
  'a settleAndClaim that cannot be written leaves no trace',
  'the status of a claim is owned',
  'the status of a claim is settled',
  'the status of a claim is stale',
  'stale progress is not written',
  'the heartbeat of a dead worker is refused',
  'a heartbeat tells of a cancel',
  'an orphan is found',
  'the reaper brings a job back',
  'a job is retried with other params',
  'a job that never ran is retried',
  'a job is deleted',
  'a first claim asks the definition',
  'a job that no worker has the code for fails',
  'the key of a deleted job is taken over',
  'a job waits for the permit of its key',
  'a permit goes to a blocked job',
  'a limit stops a claim',
  'a rate stops a claim',
  'a settleAndClaim is refused a limited job',
  'a unique job is answered with the earlier one',
  'a unique job replaces one that waits',
  'a unique key is taken over',
  'a retry is refused: another job holds its unique key',
  'new -> suspended',
  'a job after an unknown one is refused',
  'the end of a parent moves a job on',
  'a retry is refused: a parent did not succeed',
  'a retry revives what failed because of the job',
  'a child is stored',
  'a child that exists is not stored again',
  'a claim that is lost spawns nothing',
  'no child is open when its parent begins to wait',
  'the last child moves its parent on',
  'a retried child is waited for again',
  'an open batch is stored',
  'a closed batch is stored',
  'a batch without jobs goes on',
  'jobs are added to a batch',
  'a close moves a batch on',
  'a closed batch waits for its jobs',
  'a batch is cancelled with its jobs',
  'a settleAndClaim is refused a watched job',
  'a signal resumes its job',
  'a signal was early',
  'a signal is repeated',
  'a signal is too late',
  'another payload is refused',
  'the hook onSuccess is made',
  'the hook onFail is made',
  'the hook onEnd is made',
];

const seen = new Set<string>();

const steps = fc.commands(STEPS, {
  maxCommands: STEPS_MAX,
  size: 'max',
  ...(replayPath && { replayPath }),
});

async function takeRuns(database: TestDatabase, numRuns: number, round = 0): Promise<void> {
  const world = await World.open(database, seen);
  const run = fc.asyncProperty(steps, async (some) => {
    await fc.asyncModelRun(async () => await world.begin(), some);
    await expectTrueCounters(database);
  });
  await fc.assert(run, {
    numRuns,
    interruptAfterTimeLimit: patienceMs,
    // Otherwise short runs and small numbers are preferred, and little happens in them.
    unbiased: true,
    ...(seed !== null && { seed: seed + round }),
    ...(LONGSHORE_MODEL_PATH && { path: LONGSHORE_MODEL_PATH, endOnFailure: true }),
  });
}

describe.each(versions)('the store on PostgreSQL %i', (postgres) => {
  it('does what the model says, step by step', { timeout: 2 * patienceMs }, async () => {
    const database = await testDatabase({ postgres });
    onTestFinished(database.close);
    await takeRuns(database, runs);
  });
});

describe.skipIf(LONGSHORE_MODEL_SEED || LONGSHORE_MODEL_RUNS)('the model', () => {
  it('has tried every move and every kind of refusal', { timeout: 2 * patienceMs }, async () => {
    const missing = () => [...BUILT_MOVES, ...MUST_HAPPEN].filter((what) => !seen.has(what));
    // What chance has left out so far is not tried less, but a little later.
    for (let more = 0; missing().length > 0 && more < 15; more += 1) {
      const database = await testDatabase();
      onTestFinished(database.close);
      await takeRuns(database, 10, more + 1);
    }
    expect(missing()).toEqual([]);
  });
});
