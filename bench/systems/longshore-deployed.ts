import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStorage } from '../../src/artifacts/file-storage.ts';
import { packFolder } from '../../src/artifacts/pack.ts';
import { Deployer } from '../../src/deployments/deployer.ts';
import { Uploads } from '../../src/deployments/uploads.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { Db } from '../../src/store/connection/db.ts';

/** The same no-op as `definitions/process.ts`, deployed. */

export const KEY = 'noop-deployed';
const BY = { name: 'bench', address: null };

/** Where the worker finds the archive, and unpacks it. Each database has its own. */
export function placesOf(url: string): { artifacts: string; artifactCache: string } {
  const folder = folderOf(url);
  return { artifacts: join(folder, 'artifacts'), artifactCache: join(folder, 'cache') };
}

export async function removePlaces(url: string): Promise<void> {
  await rm(folderOf(url), { recursive: true, force: true });
}

function folderOf(url: string): string {
  const { port, pathname } = new URL(url);
  return join(tmpdir(), `longshore-bench-code-${port}-${pathname.slice(1)}`);
}

export async function deployNoop(url: string): Promise<void> {
  const { artifacts } = placesOf(url);
  const source = `${artifacts}-source`;
  await mkdir(source, { recursive: true });
  const definitions = [{ key: KEY, entrypoint: 'main:run' }];
  const manifest = { longshore: 1, runtime: 'node', definitions };
  await writeFile(join(source, 'longshore.json'), JSON.stringify(manifest));
  await writeFile(join(source, 'main.js'), 'export const run = () => null;');
  await packFolder(source, `${source}.tar.gz`);
  const db = Db.open({ clock: systemClock, url, log: silentLog, shards: 1, max: 2 });
  try {
    const uploads = new Uploads(db, new FileStorage(artifacts), []);
    const claims = { expected: null, signature: null };
    const body = createReadStream(`${source}.tar.gz`);
    const { artifact } = await uploads.add('default', BY, body, claims);
    const deployer = new Deployer({ db, syncSchedules: async () => undefined });
    const how = { note: null, revision: null, promote: true, canaryPercent: null };
    await deployer.deploy('default', BY, { artifactId: artifact.sha256, ...how });
  } finally {
    await db.close();
  }
}
