'use strict';
// A package contains built code; a checkout builds its own from src/ (scripts/build-code.ts) at the
// first start and after a change. Built code starts faster and needs less memory than sources: Node
// reads a few files, and does not load its TypeScript compiler.
//
// dist/code.json names the folder of the last build, and the size and time of each source file
// that is in it. It is replaced by a rename, and folders never change, so processes may build at the same time.
const { accessSync, constants, existsSync, readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');

const ROOT = join(__dirname, '..');
const MANIFEST = join(ROOT, 'dist/code.json');

/** Undefined until it is known. */
let found;

/** The folder of the built code; null in a checkout that cannot build, which then runs its sources. */
exports.builtFolder = function builtFolder() {
  if (found === undefined)
    found = existsSync(join(ROOT, 'src')) ? ofCheckout() : join(ROOT, 'dist');
  return found;
};

exports.version = function version() {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
};

function ofCheckout() {
  return lastBuild() || (build() ? lastBuild() : null);
}

/** Null when there is none, or when a source has changed since. This must be fast. */
function lastBuild() {
  try {
    const { folder, files } = JSON.parse(readFileSync(MANIFEST, 'utf8'));
    for (const [name, size, mtimeMs] of files) {
      const stat = statSync(`${ROOT}/${name}`);
      if (stat.size !== size || stat.mtimeMs !== mtimeMs) return null;
    }
    return existsSync(join(ROOT, folder)) ? join(ROOT, folder) : null;
  } catch {
    return null;
  }
}

/** In a process of its own, because the bundler needs much memory. */
function build() {
  try {
    require.resolve('rolldown');
    accessSync(existsSync(join(ROOT, 'dist')) ? join(ROOT, 'dist') : ROOT, constants.W_OK);
  } catch {
    return false;
  }
  // On stderr: stdout is for what was asked for.
  process.stderr.write(
    existsSync(MANIFEST)
      ? 'Building Longshore again, because its sources have changed (a few seconds)…\n'
      : 'Building Longshore once (a few seconds)…\n',
  );
  const { spawnSync } = require('node:child_process');
  const script = join(ROOT, 'scripts/build-code.ts');
  const { HOME, PATH } = process.env;
  const options = { cwd: ROOT, env: { HOME, PATH }, stdio: 'ignore' };
  return spawnSync(process.execPath, [script], options).status === 0;
}
