/**
 * Runs before `npm pack` and `npm publish`. A checkout exports what it builds when it is needed,
 * a package its build: this builds, keeps package.json as package.json.orig, and points the exports at dist/.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = `${root}package.json`;
const original = `${root}package.json.orig`;

if (existsSync(original)) {
  console.error('package.json.orig is left over from a broken pack: node scripts/postpack.ts');
  process.exit(1);
}
// The manifest is touched last, so that a failed build leaves it as it is.
const build = spawnSync(process.execPath, [`${root}scripts/build.ts`], {
  stdio: ['ignore', process.stderr.fd, 'inherit'],
});
if (build.status !== 0) process.exit(build.status ?? 1);

const published = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
published['exports'] = Object.fromEntries(
  Object.entries(published['exports'] as Record<string, string | { types: string }>).map(
    ([name, target]) => {
      if (typeof target === 'string') return [name, target];
      const source = target.types.replace(/^\.\/src\/(.*)\.ts$/, './dist/$1');
      return [name, { types: `${source}.d.ts`, default: `${source}.js` }];
    },
  ),
);
// Only a checkout needs these; an installed package is not built again.
for (const field of ['devDependencies', 'overrides', 'scripts', 'allowScripts'])
  delete published[field];
copyFileSync(manifest, original);
writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
