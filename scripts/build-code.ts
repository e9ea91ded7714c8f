/**
 * Bundles src/ into a few files, which start faster than hundreds of sources. With a folder as its
 * argument it writes there (`npm run build`). Otherwise it writes into a new folder of dist/ and
 * makes it the code of this checkout (bin/built.cjs).
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type InputOptions,
  type ModuleInfo,
  type OutputOptions,
  type Plugin,
  rolldown,
} from 'rolldown';

/** Everything that a process starts with, or that a program imports. */
const ENTRIES = [
  'index',
  'client/index',
  'batteries/index',
  'testing/index',
  'testing/replay-process',
  'cli/main',
  'app/worker-process',
  'worker/runner/thread',
  'worker/probe/main',
  'artifacts/bundle/load-bundle',
];
/** Started most often: each is one file of CommonJS, which loads less of Node than ES modules. */
const ALONE = ['worker/runner/main', 'worker/watchdog/main'];
/** Loaded by every process of a job and by callers; what they need becomes one file. */
const LIGHT = ['index', 'client/index'];
/** What the command line shares with servers becomes one file, too. */
const SHARED = /\/src\/(?:core|config|protocol|runtime)\//;
/** Small packages that the client and the command line need at once. */
const INLINED = ['standardwebhooks', '@stablelib/base64', 'fast-sha256', 'commander'];
const INPUT: InputOptions = {
  platform: 'node',
  external: (id) => !/^[./]/.test(id) && !INLINED.includes(id),
};
/** Names and lines are kept, so that stack traces are readable. */
const OUTPUT: OutputOptions = { comments: { legal: true, annotation: false, jsdoc: false } };
/** Besides the sources, these decide about the result. */
const INGREDIENTS = ['package.json', 'scripts/build-code.ts'];
/** A running server still needs the folder that it has started from. */
const KEPT = 20;

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

const [target] = process.argv.slice(2);
if (target === undefined) await renew();
else await bundle(target);

async function renew(): Promise<void> {
  const begunMs = Date.now();
  // Jobs may run as other users, whatever the umask of this process.
  if (mkdirSync(dist, { recursive: true }) !== undefined) chmodSync(dist, 0o755);
  const folder = mkdtempSync(join(dist, 'code-'));
  try {
    const sources = await bundle(folder);
    const files = [...sources, ...INGREDIENTS].map((name) => {
      const { size, mtimeMs } = statSync(join(root, name));
      // A file that was changed meanwhile may be in the build or not.
      return [name, mtimeMs < begunMs - 1_000 ? size : -1, mtimeMs];
    });
    openToAll(folder);
    const fresh = `${folder}.json`;
    writeFileSync(fresh, JSON.stringify({ folder: `dist/${basename(folder)}`, files }));
    renameSync(fresh, join(dist, 'code.json'));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  removeOld();
}

/** Answers with the paths of the sources that are in it. */
async function bundle(folder: string): Promise<string[]> {
  const sources = new Set<string>();
  await bundleTogether(folder, sources);
  for (const name of ALONE) await bundleAlone(name, folder, sources);
  return [...sources]
    .filter((id) => id.startsWith(join(root, 'src/')))
    .map((id) => relative(root, id));
}

async function bundleTogether(folder: string, sources: Set<string>): Promise<void> {
  const light = new Set<string>();
  const command = new Set<string>();
  const collect: Plugin = {
    name: 'collect',
    buildEnd() {
      for (const name of LIGHT) {
        addStatic(sourceOf(name), (id) => this.getModuleInfo(id), light);
      }
      addStatic(sourceOf('cli/main'), (id) => this.getModuleInfo(id), command);
      for (const id of this.getModuleIds()) sources.add(id);
    },
  };
  const build = await rolldown({
    ...INPUT,
    input: Object.fromEntries(ENTRIES.map((name) => [name, sourceOf(name)])),
    plugins: [collect],
  });
  await build.write({
    ...OUTPUT,
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // One file is loaded much faster than ten.
    codeSplitting: {
      groups: [
        { name: 'light', test: (id) => light.has(id), priority: 1 },
        { name: 'shared', test: (id) => command.has(id) && SHARED.test(id) },
      ],
    },
  });
  await build.close();
}

async function bundleAlone(name: string, folder: string, sources: Set<string>): Promise<void> {
  const build = await rolldown({
    ...INPUT,
    input: sourceOf(name),
    plugins: [{ name: 'collect', moduleParsed: ({ id }) => void sources.add(id) }],
  });
  const file = join(folder, `${name}.cjs`);
  await build.write({ ...OUTPUT, file, format: 'cjs', codeSplitting: false });
  await build.close();
}

function sourceOf(name: string): string {
  return join(root, `src/${name}.ts`);
}

/** The modules that are loaded together with this one. */
function addStatic(id: string, info: (id: string) => ModuleInfo | null, to: Set<string>): void {
  if (to.has(id)) return;
  to.add(id);
  for (const imported of info(id)?.importedIds ?? []) addStatic(imported, info, to);
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  }
}

function removeOld(): void {
  const folders = readdirSync(dist, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith('code-'))
    .map(({ name }) => ({ path: join(dist, name), madeMs: statSync(join(dist, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs);
  for (const { path } of folders.slice(KEPT)) rmSync(path, { recursive: true, force: true });
}
