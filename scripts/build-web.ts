/** Builds dist/web from web/. It appears whole or not at all: several servers may start at once. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// React looks at it, and who runs this may have set it to something else, as test runners do.
process.env['NODE_ENV'] = 'production';
const { build } = await import('vite');

const root = fileURLToPath(new URL('..', import.meta.url));
const begun = new Date();
mkdirSync(`${root}dist`, { recursive: true });
const fresh = mkdtempSync(`${root}dist/web-`);
try {
  await build({
    configFile: `${root}web/vite.config.ts`,
    configLoader: 'native',
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
  // A temporary folder is for one user only, and a server may run as another.
  chmodSync(fresh, 0o755);
  // What was changed while it was built is not in it.
  utimesSync(`${fresh}/index.html`, begun, begun);
  rmSync(`${root}dist/web`, { recursive: true, force: true });
  renameSync(fresh, `${root}dist/web`);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
