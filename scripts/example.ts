/** Runs an example: `npm run example -- thumbnails`. Without a name, it says which there are. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../examples/', import.meta.url));
const names = readdirSync(folder).filter((name) => existsSync(`${folder}${name}/main.ts`));
const [name = '', ...args] = process.argv.slice(2);

if (names.includes(name)) {
  const { status } = spawnSync(process.execPath, [`${folder}${name}/main.ts`, ...args], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} else {
  console.error(`npm run example -- NAME, where NAME is one of: ${names.join(', ')}`);
  process.exitCode = 2;
}
