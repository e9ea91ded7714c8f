import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { testDatabase } from '../support/servers/database.ts';

/** No registry is asked: the dependencies of the checkout are linked. `npm run try-pack` can do more. */
// It builds, packs, and checks types three times: a busy machine needs minutes for it.
const LONG = { timeout: 900_000 };

it('packs into something that can be installed, typed and used', LONG, async () => {
  const database = await testDatabase();
  const script = fileURLToPath(new URL('../../scripts/try-pack.ts', import.meta.url));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATABASE_URL: database.url };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    env,
    encoding: 'utf8',
  });
  await database.close();
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/inside an application\n$/);
});
