/** Builds dist/ from src/ and web/: what a package holds, since Node strips no types in node_modules. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// A file that no longer exists in src/ must not live on in the package.
rmSync(`${root}dist`, { recursive: true, force: true });
const compiler = `${root}node_modules/typescript/bin/tsc`;
const steps = [
  [compiler, '-p', 'tsconfig.build.json'],
  [`${root}scripts/build-code.ts`, `${root}dist`],
  [`${root}scripts/build-web.ts`],
];
for (const step of steps) {
  const { status, error } = spawnSync(process.execPath, step, {
    cwd: root,
    // npm reads what `npm pack --json` prints on stdout; the compiler's words are no part of it.
    stdio: ['ignore', process.stderr.fd, 'inherit'],
  });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
