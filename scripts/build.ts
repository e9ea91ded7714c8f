/** Builds dist/ from src/ and web/: what a package holds, since Node strips no types in node_modules. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

// A file that no longer exists in src/ must not live on in the package.
rmSync(`${root}dist`, { recursive: true, force: true });
const compiler = `${root}node_modules/typescript/bin/tsc`;
const { status, error } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  // npm reads what `npm pack --json` prints on stdout; the compiler's words are no part of it.
  stdio: ['ignore', process.stderr.fd, 'inherit'],
});
if (error) throw error;
process.exitCode = status ?? 1;
if (process.exitCode === 0) await import('./build-web.ts');
