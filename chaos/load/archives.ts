import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packFolder } from '../../src/artifacts/pack.ts';

const JOB = new URL('../history/deployed-job.ts', import.meta.url).href;

const MANIFEST = {
  longshore: 1,
  runtime: 'node',
  definitions: [
    {
      key: 'deployed',
      entrypoint: 'main:run',
      retry: { baseMs: 100, maxMs: 1_000 },
      timeoutSeconds: 8,
    },
  ],
};

/** An archive whose code says the name of its build. */
export async function archiveOf(build: string, folder: string): Promise<Buffer> {
  const source = join(folder, 'builds', build);
  await mkdir(source, { recursive: true });
  await writeFile(join(source, 'longshore.json'), JSON.stringify(MANIFEST));
  const code = `import { runDeployed } from '${JOB}';
    export const run = (params, ctx) => runDeployed('${build}', params, ctx);`;
  await writeFile(join(source, 'main.js'), code);
  await packFolder(source, `${source}.tar.gz`);
  return await readFile(`${source}.tar.gz`);
}
