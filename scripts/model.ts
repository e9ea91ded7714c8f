/**
 * The model-based test of the store, longer than CI runs it, or one failed run again:
 * `npm run model -- --runs=5000`, `npm run model -- --seed=N --path=P --replay-path=R`.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const options = {
  runs: { type: 'string' },
  seed: { type: 'string' },
  path: { type: 'string' },
  'replay-path': { type: 'string' },
} as const;

function readOptions(): Record<string, string | undefined> {
  const { values } = parseArgs({ options });
  for (const name of ['runs', 'seed'] as const) {
    const value = values[name];
    if (value !== undefined && !/^-?\d+$/.test(value)) {
      throw new Error(`--${name} takes a whole number, not "${value}"`);
    }
  }
  return values;
}

let chosen: Record<string, string | undefined> = {};
try {
  chosen = readOptions();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(2);
}

const settings = Object.entries(chosen).map(([name, value]) => {
  return [`LONGSHORE_MODEL_${name.toUpperCase().replace('-', '_')}`, value];
});
const test = ['vitest', 'run', '--project', 'integration', 'test/integration/store/model.test.ts'];
const { status } = spawnSync('npx', test, {
  stdio: 'inherit',
  env: { ...process.env, ...Object.fromEntries(settings) },
});
process.exitCode = status ?? 1;
