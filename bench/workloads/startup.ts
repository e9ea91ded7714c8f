import { execFileSync } from 'node:child_process';
import { median } from '../harness/numbers.ts';
import { endedCpuSeconds } from '../servers/processes.ts';
import type { Workload } from './workload.ts';

/** Prints the CPU seconds of the import, without those of the start of Node. */
const IMPORT = `
  const before = process.cpuUsage();
  await import('longshore');
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1e6);`;

export const startup: Workload = {
  name: 'startup',
  what: "CPU of `import 'longshore'`, without the start of Node, and of a whole `longshore --help`.",
  systems: ['longshore'],
  metrics: [
    { key: 'import', unit: 's', better: 'less' },
    { key: 'help', unit: 's', better: 'less' },
  ],
  rounds: { full: 3, quick: 1 },
  seconds: { full: 15, quick: 5 },
  async measure(bench, system) {
    const { root, program } = bench.checkout(system);
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const importSeconds = (): number => Number(run('--input-type', 'module', '--eval', IMPORT));
    // The first time, files are not in the page cache, and a checkout may build its code.
    run(program, '--help');
    importSeconds();
    const times = bench.size(15, 5);
    const imports = Array.from({ length: times }, importSeconds);
    const before = endedCpuSeconds();
    for (let n = 0; n < times; n += 1) run(program, '--help');
    return { import: median(imports), help: (endedCpuSeconds() - before) / times };
  },
};
