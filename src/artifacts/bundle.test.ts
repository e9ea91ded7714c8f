import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { scratch } from '../../test/support/artifacts/scratch.ts';
import { providedModules } from '../runtime/code.ts';
import { BundleError, bundleJobs, type BundleOptions } from './bundle.ts';
import { packFolder } from './pack.ts';
import { inspectArchive } from './read-archive.ts';

const PACKAGES = fileURLToPath(new URL('../../node_modules', import.meta.url));
const EXAMPLES = fileURLToPath(new URL('../../examples/jobs', import.meta.url));

const PROJECT = {
  'package.json': '{ "type": "module" }',
  'node_modules/tiny/package.json': '{ "name": "tiny", "version": "1.0.0", "main": "index.cjs" }',
  'node_modules/tiny/index.cjs': `
    const { basename } = require('node:path');
    exports.shout = (text) => basename(text).toUpperCase();
  `,
  'jobs/greet.ts': `
    import { defineJob } from 'longshore';
    import { shout } from 'tiny';
    import { shared } from './_shared.ts';
    export const greet = defineJob({
      key: 'greet',
      version: 3,
      schedule: '0 3 * * *',
      run: (params: { name: string }) => shout(params.name) + shared(),
    });
    export default defineJob({ key: 'other', timeoutSeconds: 5, run: () => shared() });
  `,
  'jobs/_shared.ts': `export const shared = (): string => '!';`,
  'jobs/again.ts': `export { greet } from './greet.ts';`,
  'jobs/greet.test.ts': `throw new Error('a test must not be loaded');`,
  'jobs/deep/count.mts': `
    import { defineCommand } from 'longshore';
    import { shared } from '../_shared.ts';
    export const count = defineCommand({
      key: 'count', command: ['sh', 'count.sh'], cwd: 'scripts', onFail: () => void shared(),
    });
  `,
  'jobs/deep/scripts/count.sh': 'echo 1\n',
  'jobs/.env': 'SECRET=1',
  'jobs/node_modules/x/index.js': '',
};

async function project(files: Record<string, string> = PROJECT): Promise<string> {
  const root = join(await scratch(), 'project');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

async function bundled(root: string, more: Partial<BundleOptions> = {}) {
  const out = join(dirname(root), 'out');
  return { out, ...(await bundleJobs({ jobs: join(root, 'jobs'), out, ...more })) };
}

/** The result of a function of the bundle, in a process as a worker has it. */
function resultOf(folder: string, code: string): string {
  const hook = `
    import { registerHooks } from 'node:module';
    const provided = ${JSON.stringify(providedModules())};
    registerHooks({
      resolve: (name, context, next) =>
        provided[name] ? { url: provided[name], shortCircuit: true } : next(name, context),
    });
  `;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const run = ['--input-type=module', '--eval', code];
  return execFileSync(process.execPath, [...args, ...run], {
    cwd: folder,
    encoding: 'utf8',
  }).trim();
}

describe('a bundle', () => {
  it('has the definitions with their packages and files, and nothing else', async () => {
    const root = await project();
    await chmod(join(root, 'jobs/deep/scripts/count.sh'), 0o755);
    const { out, manifest, warnings } = await bundled(root, { app: 'shop' });
    expect(warnings).toEqual([]);
    expect(manifest).toMatchObject({
      app: 'shop',
      runtime: 'node',
      definitions: [
        {
          info: { key: 'greet', version: 3, schedules: [{ cron: '0 3 * * *' }] },
          entrypoint: { runtime: 'node', module: 'again.mjs', export: 'greet' },
        },
        {
          info: { key: 'count', hooks: ['onFail'] },
          entrypoint: {
            runtime: 'command',
            argv: ['sh', 'count.sh'],
            cwd: 'deep/scripts',
            definition: { module: 'deep/count.mjs', export: 'count' },
          },
        },
        {
          info: { key: 'other', timeoutMs: 5_000 },
          entrypoint: { module: 'greet.mjs', export: 'default' },
        },
      ],
    });
    await packFolder(out, `${out}.tar.gz`);
    const archive = await inspectArchive(`${out}.tar.gz`);
    expect(archive.manifest).toEqual(manifest);
    const files = [...archive.files].filter((path) => !path.startsWith('chunks/'));
    expect(files.sort()).toEqual([
      'again.mjs',
      'deep/count.mjs',
      'deep/count.mjs.map',
      'deep/scripts/count.sh',
      'greet.mjs',
      'longshore.json',
    ]);
    const code = `
      const { greet } = await import('./again.mjs');
      console.log(greet.run({ name: 'a/world' }));
    `;
    expect(resultOf(out, code)).toBe('WORLD!');
  });

  it('is the same for the same sources, wherever they are', async () => {
    const hashes = [];
    for (const root of [await project(), await project()]) {
      const { out } = await bundled(root);
      hashes.push((await packFolder(out, `${out}.tar.gz`)).sha256);
      const maps = (await readdir(out, { recursive: true })).filter((name) =>
        name.endsWith('.map'),
      );
      const texts = await Promise.all(maps.map((map) => readFile(join(out, map), 'utf8')));
      expect(texts.join('')).not.toContain(dirname(root));
    }
    expect(hashes[0]).toBe(hashes[1]);
  });

  it('has the packages of npm', async () => {
    const root = await project({
      'package.json': '{ "type": "module" }',
      'jobs/a.ts': `
        import { defineJob } from 'longshore';
        import { z } from 'zod';
        export const a = defineJob({
          key: 'a', params: z.object({ url: z.url() }), run: ({ url }) => url.length,
        });
      `,
    });
    await symlink(PACKAGES, join(root, 'node_modules'));
    const { out, manifest } = await bundled(root);
    expect(manifest.definitions[0]?.info.paramsSchema).toMatchObject({ required: ['url'] });
    const code = `
      const { a } = await import('./a.mjs');
      console.log(JSON.stringify(a.schema['~standard'].validate({ url: 'no' }).issues.length));
    `;
    expect(resultOf(out, code)).toBe('1');
  });

  it('can be made of the examples', async () => {
    const out = join(await scratch(), 'out');
    const { manifest } = await bundleJobs({ jobs: EXAMPLES, out });
    const keys = manifest.definitions.map(({ info }) => info.key);
    expect(keys).toContain('hello');
    expect(keys).toContain('word-count');
    expect(await readdir(out)).toContain('word-count.py');
  });

  it('can be one file', async () => {
    const root = await project();
    const { manifest } = await bundled(root, { jobs: join(root, 'jobs/greet.ts') });
    expect(manifest.definitions.map(({ info }) => info.key).sort()).toEqual(['greet', 'other']);
  });
});

describe('a bundle is refused', () => {
  const job = (key: string) =>
    `import { defineJob } from 'longshore';\nexport default defineJob({ key: '${key}', run() {} });`;
  const native = {
    'node_modules/fast/package.json':
      '{ "name": "fast", "version": "1.0.0", "dependencies": { "bindings": "1" } }',
    'node_modules/fast/index.js': 'module.exports = 1;',
    'jobs/a.ts': `import 'fast';\n${job('a')}`,
  };
  it.each<[string, Record<string, string>, string]>([
    ['without definitions', { 'jobs/a.ts': 'export const a = 1;' }, 'exports no job'],
    ['without files', { 'jobs/a.txt': 'x' }, 'has no file with definitions'],
    ['with two of a key', { 'jobs/a.ts': job('a'), 'jobs/b.ts': job('a') }, 'a@1 is already'],
    ['with a file that throws', { 'jobs/a.ts': 'throw new Error("oops");' }, 'a.mjs: Error: oops'],
    ['with a file that ends', { 'jobs/a.ts': 'process.exit(3);' }, 'ended the process'],
    ['with a wrong definition', { 'jobs/a.ts': job('a b') }, 'key must be 1 to 200'],
    ['with wrong code', { 'jobs/a.ts': 'export const = 1;' }, 'cannot be built'],
    [
      'with a package that is missing',
      { 'jobs/a.ts': `import 'no-such';\n${job('a')}` },
      'no-such',
    ],
    ['with native code', native, 'the package fast has native code'],
    [
      'with a binary',
      { 'jobs/a.ts': `import './x.node';\n${job('a')}`, 'jobs/x.node': '' },
      'native',
    ],
    ['with a manifest', { 'jobs/a.ts': job('a'), 'jobs/longshore.json': '{}' }, 'is made by'],
    ['with two of a name', { 'jobs/a.ts': job('a'), 'jobs/a.js': job('b') }, 'the same name'],
    [
      'with a command elsewhere',
      {
        'jobs/a.ts': `import { defineCommand } from 'longshore';
          export const a = defineCommand({ key: 'a', command: ['true'], cwd: '../..' });`,
      },
      'is not in the bundle',
    ],
  ])('%s', async (_, files, words) => {
    const root = await project({ 'package.json': '{ "type": "module" }', ...files });
    const bundling = bundled(root);
    await expect(bundling).rejects.toThrow(BundleError);
    await expect(bundling).rejects.toThrow(words);
  });

  it('unless the native package is on the workers', async () => {
    const root = await project({
      'package.json': '{ "type": "module" }',
      ...native,
      'jobs/a.ts': `export const lazy = () => import('fast');\n${job('a')}`,
    });
    const { out } = await bundled(root, { external: ['fast'] });
    expect(await readFile(join(out, 'a.mjs'), 'utf8')).toContain('import("fast")');
  });

  it('without its bundler, into a folder that is used, and of no folder', async () => {
    const root = await project();
    const load = () => Promise.reject(new Error('not installed'));
    await expect(bundled(root, { load })).rejects.toThrow('npm install -D rolldown');
    const jobs = join(root, 'jobs');
    await expect(bundleJobs({ jobs, out: root })).rejects.toThrow('is not empty');
    await expect(bundled(root, { jobs: join(root, 'nothing') })).rejects.toThrow('no such file');
  });
});
