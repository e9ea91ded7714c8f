import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineBatchJob } from '../definition/define-batch.ts';
import { defineCommand } from '../definition/define-command.ts';
import { defineJob } from '../definition/define.ts';
import { type Entrypoint, ManifestError } from './entrypoint.ts';
import { manifestFields } from './manifest-fields.ts';
import { manifestOf, parseManifest } from './manifest.ts';
import { resolveEntrypoints, resolveModule } from './resolve-entrypoints.ts';

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const one = (fields: object, top: object = {}) =>
  manifestOf({
    longshore: 1,
    runtime: 'node',
    definitions: [{ key: 'a', entrypoint: 'main:run', ...fields }],
    ...top,
  });

describe('a manifest', () => {
  it('carries what a worker publishes, and where the code begins', () => {
    const manifest = parseManifest(
      bytes({
        longshore: 1,
        app: 'shop',
        runtime: 'node',
        definitions: [
          { key: 'a', entrypoint: 'main:run', schedule: '0 3 * * *', timeoutSeconds: 5 },
          { key: 'b', version: 2, entrypoint: { command: ['./b.sh'], cwd: './bin' } },
        ],
      }),
    );
    expect(manifest).toMatchObject({
      app: 'shop',
      runtime: 'node',
      definitions: [
        {
          info: { key: 'a', version: 1, timeoutMs: 5_000, schedules: [{ cron: '0 3 * * *' }] },
          version: null,
          entrypoint: { runtime: 'node', module: 'main', export: 'run' },
        },
        {
          info: { key: 'b', version: 2, command: { argv: ['./b.sh'], cwd: 'bin' } },
          version: 2,
          entrypoint: { runtime: 'command', argv: ['./b.sh'], cwd: 'bin', definition: null },
        },
      ],
    });
  });

  it('has one canonical text, however it is written', () => {
    const a = parseManifest(
      new TextEncoder().encode(
        '{"longshore":1,"runtime":"node","definitions":[{"entrypoint":"m:r","key":"a"}]}',
      ),
    );
    const b = parseManifest(
      new TextEncoder().encode(
        '{ "definitions": [{"key":"a", "entrypoint":"m:r"}],\n "runtime":"node", "longshore":1 }',
      ),
    );
    expect(a.canonical).toBe(b.canonical);
    expect(a.canonical).toBe(
      '{"definitions":[{"entrypoint":"m:r","key":"a"}],"longshore":1,"runtime":"node"}',
    );
  });

  const jobs = [
    defineJob({ key: 'plain', run: () => null }),
    defineJob({
      key: 'all/of:it',
      version: 7,
      owner: 'media',
      description: 'd',
      runbookUrl: 'https://example.com/a',
      params: z.object({ url: z.url() }),
      maxAttempts: 9,
      timeoutSeconds: 0.0001,
      stallTimeoutMs: 5_000,
      retry: { delaysMs: [1, 2], jitter: 0 },
      retryOn: [],
      cancelGraceMs: 0,
      maxInterruptions: 0,
      isolation: 'fresh',
      memoryMb: 0,
      redact: ['card.*'],
      concurrencyLimit: 5,
      spread: 8,
      rateLimit: { limit: 2, perMs: 1_000 },
      schedule: [
        { name: 'x', cron: '* * * * *', params: null, startAt: '2030-01-01T00:00:00Z' },
        { name: 'y', cron: '@daily', overlap: 'skip', params: { n: [1] } },
      ],
      onStart: () => undefined,
      onEnd: () => undefined,
      run: () => null,
    }),
    defineJob({ key: 'preset', retry: 'webhook', run: () => null }),
    defineBatchJob({ key: 'grouped', size: 7, waitMs: 0, run: () => [] }),
    defineJob({ key: 'evolved', upgrade: { 2: () => null }, run: () => null }),
    defineCommand({
      key: 'c',
      command: ['python3', 'x.py'],
      cwd: 'py',
      onFail: () => undefined,
    }),
  ];
  it.each(jobs.map((job) => [job.key, job] as const))(
    'made from the definition %s gives the same definition',
    (_, { info }) => {
      const at = { module: 'jobs.js', export: 'default' };
      const entrypoint: Entrypoint = info.command
        ? { runtime: 'command', ...info.command, definition: at }
        : { runtime: 'node', ...at };
      const fields = manifestFields({
        app: null,
        runtime: 'node',
        definitions: [{ info, entrypoint }],
      });
      const [read] = parseManifest(bytes(fields)).definitions;
      expect(read).toEqual({
        info: JSON.parse(JSON.stringify(info)),
        version: info.version,
        entrypoint,
      });
    },
  );

  it.each<[unknown, string, string]>([
    [[], '', 'the manifest must be an object'],
    [{ longshore: 2 }, 'longshore', 'longshore: must be 1'],
    [{ longshore: 1, apps: 1 }, '', 'unknown field "apps": did you mean "app"?'],
    [{ longshore: 1, app: 'a b' }, 'app', 'app: must be 1 to 100'],
    [{ longshore: 1 }, 'runtime', 'unknown runtime "undefined": known are node, command'],
    [{ longshore: 1, runtime: 'nodes' }, 'runtime', 'did you mean "node"?'],
    [{ longshore: 1, runtime: 'node' }, 'definitions', 'a list of at least one'],
    [{ longshore: 1, runtime: 'node', definitions: [5] }, 'definitions[0]', 'must be an object'],
    [
      { longshore: 1, runtime: 'node', definitions: [{ key: 'a' }] },
      'definitions[0].entrypoint',
      'is missing',
    ],
    [
      { longshore: 1, runtime: 'node', definitions: [{ entrypoint: 'a' }] },
      'definitions[0].key',
      'is missing',
    ],
  ])('is refused: %j', (value, path, words) => {
    const refused = () => parseManifest(bytes(value));
    expect(refused).toThrow(expect.objectContaining({ code: 'MANIFEST_INVALID', path }));
    expect(refused).toThrow(words);
  });

  it.each<[object, string, string]>([
    [{ timeoutSecond: 1 }, '', 'unknown field "timeoutSecond": did you mean "timeoutSeconds"?'],
    [{ timeoutSeconds: -1 }, '.timeoutSeconds', 'timeoutSeconds must be above 0'],
    [{ key: 'a b' }, '.key', 'key must be 1 to 200'],
    [{ key: 5 }, '.key', 'key must be 1 to 200'],
    [{ retry: 'webhok' }, '', 'did you mean "webhook"?'],
    [{ retry: { baseMs: -1 } }, '.retry', 'retry.baseMs must be'],
    [{ schedule: { cron: 5 } }, '.schedule', 'schedule.cron must be'],
    [{ concurrencyLimit: -1 }, '.concurrencyLimit', 'whole number'],
    [{ spread: 0 }, '.spread', 'whole number'],
    [{ group: { size: 0 } }, '.group', 'size must be a whole number'],
    [{ group: { size: 2, wait: 1 } }, '.group', 'unknown field "wait"'],
    [{ group: 5 }, '.group', 'must be an object with size and waitMs'],
    [{ group: { size: 2 }, entrypoint: ['x'] }, '.group', 'one job at a time'],
    [{ paramsShape: 0 }, '', 'paramsShape must be a whole number from 1 to 1000'],
    [{ paramsShape: '2' }, '', 'paramsShape must be a whole number from 1 to 1000'],
    [{ schema: 'x' }, '.schema', 'must be a JSON Schema'],
    [{ hooks: ['onFial'] }, '.hooks[0]', 'did you mean "onFail"?'],
    [{ hooks: ['onEnd', 'onEnd'] }, '.hooks[1]', 'occurs twice'],
    [{ hooks: ['onEnd'], entrypoint: ['x'] }, '.hooks', 'has no hooks'],
    [{ isolation: 'fresh', entrypoint: ['x'] }, '.isolation', 'a process of its own'],
    [{ entrypoint: 5 }, '.entrypoint', '"main:run"'],
    [{ entrypoint: 'main:' }, '.entrypoint.export', 'the name of an export'],
    [{ entrypoint: '../main:run' }, '.entrypoint.module', 'must not contain ..'],
    [{ entrypoint: { modul: 'x' } }, '.entrypoint', 'did you mean "module"?'],
    [{ entrypoint: [] }, '.entrypoint', 'the program first'],
    [{ entrypoint: ['a', 5] }, '.entrypoint[1]', 'must be a text'],
    [{ entrypoint: ['python3 main.py'] }, '.entrypoint', 'no shell'],
    [{ entrypoint: { command: ['a'], cwd: '/etc' } }, '.entrypoint.cwd', 'must be relative'],
  ])('refuses a definition with %j', (fields, path, words) => {
    expect(() => one(fields)).toThrow(ManifestError);
    expect(() => one(fields)).toThrow(expect.objectContaining({ path: `definitions[0]${path}` }));
    expect(() => one(fields)).toThrow(words);
  });

  it('names a definition once', () => {
    const a = { key: 'a', entrypoint: 'm:a' };
    const manifest = (...definitions: object[]) => one({}, { definitions });
    expect(() => manifest(a, a)).toThrow('definitions[1].key: a is already defined');
    expect(manifest({ ...a, version: 1 }, { ...a, version: 2 }).definitions).toHaveLength(2);
  });

  it.each([
    ['{', 'the manifest is not JSON'],
    ['['.repeat(5_000), 'the manifest is not JSON'],
    [`"${'x'.repeat(1_048_576)}"`, 'more than 1048576 bytes'],
    ['{"longshore":12345678901234567890}', 'would be rounded'],
  ])('that is hostile is refused: %.20s', (text, words) => {
    expect(() => parseManifest(new TextEncoder().encode(text))).toThrow(words);
  });
  it('must be UTF-8', () => {
    expect(() => parseManifest(new Uint8Array([0x22, 0xff, 0x22]))).toThrow('is not JSON');
  });
});

describe('the module of an entrypoint', () => {
  const files = new Set(['main.js', 'a.ts', 'b/index.mjs', 'run.sh', 'bin/run.sh', 'x', 'x.cjs']);
  it.each([
    ['main', 'main.js'],
    ['main.js', 'main.js'],
    ['a', 'a.ts'],
    ['b', 'b/index.mjs'],
    ['x', 'x.cjs'],
    ['run.sh', null],
    ['c', null],
  ])('%s is %s', (module, file) => expect(resolveModule(module, files)).toBe(file));

  it('is resolved in the manifest', () => {
    const [resolved] = resolveEntrypoints(one({}), files).definitions;
    expect(resolved?.entrypoint).toEqual({ runtime: 'node', module: 'main.js', export: 'run' });
    const command = { command: ['./run.sh'], cwd: 'bin', module: 'a' };
    expect(resolveEntrypoints(one({ entrypoint: command }), files)).toMatchObject({
      definitions: [{ entrypoint: { definition: { module: 'a.ts', export: 'default' } } }],
    });
  });

  it.each([
    ['c:run', 'definitions[0].entrypoint: the bundle has no module c'],
    [['./main.sh'], 'the bundle has no file main.sh'],
    [{ command: ['./run.sh'], cwd: 'etc' }, 'the bundle has no file etc/run.sh'],
  ])('%j must be in the bundle', (entrypoint, words) => {
    expect(() => resolveEntrypoints(one({ entrypoint }), files)).toThrow(words);
  });
});
