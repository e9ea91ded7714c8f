import { describe, expect, it, test } from 'vitest';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ambientReads,
  importCycles,
  loadedBy,
  type ImportRow,
  impureReads,
  longFiles,
  nonErasable,
  strayStatements,
  wrongImports,
} from './support/checks/source-rules.ts';
import { parse, readSources } from './support/checks/source-tree.ts';

/** Which folder may import what. A new folder needs a row here. */
const IMPORTS: ImportRow[] = [
  { at: 'src/core/', may: [] },
  { at: 'src/runtime/', may: [], packages: ['pino'], node: true },
  { at: 'src/config/', may: ['src/core/'], node: true },
  // Signals about jobs: log lines and spans.
  {
    at: 'src/signals/',
    may: ['src/core/'],
    types: ['src/runtime/'],
    packages: ['@opentelemetry/api'],
    node: true,
    // Which file registers an SDK is only known when it runs.
    computed: ['src/signals/load-tracing.ts'],
  },
  { at: 'src/protocol/', may: ['src/core/'], packages: ['zod'] },
  // Code as archives: made, stored, fetched, checked and unpacked.
  {
    at: 'src/artifacts/',
    may: ['src/core/', 'src/runtime/'],
    packages: ['@aws-sdk/client-s3', 'rolldown', 'tar', 'yauzl'],
    node: true,
    // Which modules a bundle has is only known when it is loaded.
    computed: ['src/artifacts/bundle/load-bundle.ts'],
  },
  { at: 'src/liveness/', may: ['src/runtime/'], packages: ['redis'] },
  // Message brokers: takes messages, and publishes events.
  {
    at: 'src/brokers/',
    may: ['src/core/', 'src/runtime/'],
    packages: ['@platformatic/kafka', 'amqplib'],
  },
  // Makes jobs from messages, by the rules of the API.
  {
    at: 'src/ingest/',
    may: ['src/core/', 'src/enqueue/', 'src/protocol/', 'src/runtime/', 'src/store/'],
    types: ['src/brokers/', 'src/metrics/'],
    node: true,
  },
  // Sends the events of jobs to webhooks, if their address is allowed, and alerts to people.
  {
    at: 'src/webhooks/',
    may: ['src/brokers/', 'src/core/', 'src/runtime/together.ts', 'src/store/'],
    types: ['src/runtime/'],
    packages: ['undici', 'ipaddr.js', 'nodemailer', 'standardwebhooks'],
    node: true,
  },
  // Params and results that are too large for the database.
  {
    at: 'src/large/',
    may: ['src/core/', 'src/runtime/', 'src/store/'],
    types: ['src/artifacts/'],
    node: true,
  },
  // Reports of jobs: signed links, downloads, deletion after their last day.
  {
    at: 'src/reports/',
    may: ['src/core/', 'src/protocol/', 'src/runtime/'],
    types: ['src/artifacts/'],
    node: true,
  },
  // The client of an identity provider.
  {
    at: 'src/identity/',
    may: ['src/core/'],
    types: ['src/runtime/'],
    packages: ['openid-client'],
    node: true,
  },
  // Ready-made jobs. They run in the processes of jobs and use our sender.
  {
    at: 'src/batteries/',
    may: [
      'src/core/',
      'src/artifacts/open-storage.ts',
      'src/artifacts/storage.ts',
      'src/reports/report-link.ts',
      'src/runtime/clock.ts',
      'src/runtime/deadline.ts',
      'src/webhooks/dialer.ts',
      'src/webhooks/mail.ts',
      'src/webhooks/networks.ts',
      'src/webhooks/send.ts',
      'src/webhooks/sign.ts',
    ],
    packages: ['pdfkit', 'pg', 'redis', 'zod'],
    node: true,
  },
  // Pure like core, but for the package that knows cron: which instants a schedule means.
  { at: 'src/schedule/', may: ['src/core/'], packages: ['croner'] },
  // Judges params by the schema of their definition, within a time limit.
  { at: 'src/params/', may: ['src/core/'], types: ['src/runtime/'], packages: ['ajv'], node: true },
  {
    at: 'src/store/',
    may: ['src/core/', 'src/params/', 'src/runtime/', 'src/schedule/', 'src/signals/'],
    packages: ['pg'],
    node: true,
  },
  { at: 'src/postgres/', may: ['src/core/', 'src/runtime/'], packages: ['pg'], node: true },
  {
    at: 'src/worker/',
    // Its own runner part, because `inline` runs jobs inside the worker.
    may: [
      'src/core/',
      'src/runtime/',
      'src/signals/',
      'src/store/',
      'src/version.ts',
      'src/worker/runner/',
    ],
    // The messages of a worker over HTTP.
    types: ['src/large/', 'src/liveness/', 'src/protocol/', 'src/worker/probe/'],
    node: true,
  },
  // Serves workers over HTTP with the queue of a local worker.
  {
    at: 'src/controller/',
    may: ['src/core/', 'src/protocol/', 'src/runtime/', 'src/store/', 'src/worker/'],
    types: ['src/large/', 'src/http/'],
    node: true,
  },
  // It ends processes in place of a worker that no longer can, and knows no more than that.
  {
    at: 'src/worker/watchdog/',
    may: [
      'src/runtime/processes/sweep.ts',
      'src/runtime/processes/name-tag.ts',
      'src/runtime/processes/cgroup.ts',
      'src/runtime/processes/remove-folder.ts',
      'src/runtime/processes/user-processes.ts',
    ],
    node: true,
  },
  // It runs where jobs run, and attacks; `doctor` reads what came of it.
  { at: 'src/worker/probe/', may: [], node: true },
  // The process that runs user code knows no database and no settings. Which files hold the
  // definitions is only known when it runs.
  {
    at: 'src/worker/runner/',
    may: ['src/core/', 'src/signals/active-trace.ts', 'src/worker/ipc.ts'],
    node: true,
    computed: ['src/worker/runner/load.ts', 'src/worker/runner/load-deployment.ts'],
  },
  {
    at: 'src/scheduler/',
    may: [
      'src/core/',
      'src/enqueue/',
      'src/runtime/',
      'src/schedule/',
      'src/signals/',
      'src/store/',
    ],
    types: ['src/liveness/'],
  },
  // The application service of deployed code: takes archives, creates deployments and releases.
  {
    at: 'src/deployments/',
    may: [
      'src/artifacts/',
      'src/core/',
      'src/params/',
      'src/protocol/',
      'src/runtime/',
      'src/store/',
    ],
    node: true,
  },
  {
    at: 'src/http/',
    may: [
      'src/artifacts/archive-limits.ts',
      'src/deployments/',
      'src/enqueue/',
      'src/core/',
      'src/params/',
      'src/runtime/',
      'src/schedule/',
      'src/store/',
      'src/protocol/',
      'src/metrics/',
      'src/reports/',
      'src/identity/',
      'src/webhooks/',
    ],
    packages: [
      'fastify',
      '@fastify/static',
      '@fastify/swagger',
      '@scalar/fastify-api-reference',
      'fastify-type-provider-zod',
      'marked',
      'minisearch',
      'zod',
    ],
    node: true,
    types: ['src/large/'],
  },
  // Figures for Prometheus: of the cluster, from rows; of a process, as it counts them.
  {
    at: 'src/metrics/',
    may: ['src/core/', 'src/runtime/start-refusal.ts', 'src/version.ts'],
    types: ['src/runtime/', 'src/store/', 'src/worker/'],
    packages: ['prom-client'],
    node: true,
  },
  {
    at: 'src/client/',
    may: ['src/core/', 'src/protocol/'],
    packages: ['eventsource-parser', 'standardwebhooks'],
  },
  // Judgement of facts that others gathered: it looks at nothing itself.
  {
    at: 'src/doctor/',
    may: ['src/core/failure/database-fix.ts', 'src/worker/probe/escape.ts'],
    types: ['src/runtime/'],
  },
  {
    at: 'src/doctor/facts/',
    may: [
      'src/artifacts/',
      'src/brokers/',
      'src/core/',
      'src/config/',
      'src/protocol/',
      'src/store/',
      'src/postgres/',
      'src/liveness/',
      'src/worker/',
    ],
    types: ['src/doctor/', 'src/runtime/', 'src/identity/'],
    node: true,
  },
  // Plays a server for a worker, and a worker for a server.
  {
    at: 'src/conformance/',
    may: ['src/client/', 'src/core/', 'src/protocol/'],
    types: ['src/runtime/'],
    packages: ['zod'],
    node: true,
  },
  // Tools for agents, over the public API.
  {
    at: 'src/mcp/',
    may: [
      'src/client/',
      'src/core/',
      'src/protocol/',
      'src/runtime/start-refusal.ts',
      'src/version.ts',
    ],
    packages: ['@modelcontextprotocol/node', '@modelcontextprotocol/server', 'zod'],
    node: true,
  },
  // Imports jobs that wait in another system, over the API.
  {
    at: 'src/import/',
    may: ['src/client/', 'src/core/'],
    packages: ['bullmq', 'pg'],
    node: true,
  },
  {
    at: 'src/cli/',
    lazily: ['src/mcp/'],
    may: [
      'src/artifacts/',
      'src/config/',
      'src/client/',
      'src/conformance/',
      'src/core/',
      'src/import/',
      'src/app/',
      'src/version.ts',
      // It is the root of its process: it owns the clock and makes the log.
      'src/runtime/clock.ts',
      'src/runtime/code.ts',
      'src/runtime/log.ts',
      'src/runtime/start-refusal.ts',
      'src/runtime/stop-signals.ts',
      'src/signals/log-text.ts',
    ],
    types: ['src/mcp/', 'src/runtime/'],
    packages: ['commander'],
    node: true,
  },
  // The composition root: puts the parts together for each role, and for an application that has
  // Longshore inside.
  {
    at: 'src/app/',
    may: [
      'src/large/',
      'src/artifacts/',
      'src/brokers/',
      'src/client/',
      'src/config/',
      'src/controller/',
      'src/core/',
      'src/deployments/',
      'src/doctor/',
      'src/doctor/facts/',
      'src/enqueue/',
      'src/http/',
      'src/ingest/',
      'src/liveness/',
      'src/metrics/',
      'src/postgres/',
      'src/protocol/',
      'src/reports/',
      'src/runtime/',
      'src/scheduler/',
      'src/identity/',
      'src/signals/',
      'src/store/',
      'src/version.ts',
      'src/webhooks/',
      'src/worker/',
    ],
    node: true,
  },
  // The application service that accepts jobs: validates, counts quotas, then calls the store.
  {
    at: 'src/enqueue/',
    may: [
      'src/core/',
      'src/params/',
      'src/protocol/',
      'src/runtime/',
      'src/schedule/',
      'src/signals/',
      'src/store/',
    ],
    types: ['src/large/'],
  },
  { at: 'src/version.ts', may: ['src/runtime/code.ts'], node: true },
  // For the tests of people who write jobs: the parts of the product, put together smaller.
  {
    at: 'src/testing/',
    may: [
      'src/core/',
      'src/runtime/',
      'src/config/',
      'src/store/',
      'src/postgres/',
      'src/scheduler/',
      'src/worker/',
      'src/worker/runner/',
      'src/app/',
      'src/enqueue/',
    ],
    types: ['src/client/'],
    node: true,
  },
  // Runners load this file for `defineJob`, and must not load a database driver with it.
  {
    at: 'src/index.ts',
    may: ['src/core/', 'src/client/'],
    types: ['src/app/'],
    lazily: ['src/app/'],
  },
];

const LINES_MAX = 400;
/** The embedded PostgreSQL asks its own server a few questions before there is a store. */
// The SDK calls one function inside the caller's transaction, which is SQL by nature.
const MAY_HOLD_SQL = [
  'src/store/',
  'src/postgres/',
  'src/client/transaction.ts',
  // Tables of the application, in a database of its own.
  'src/batteries/cleanup/',
  'src/batteries/report/query.ts',
  // Tables of pg-boss, in a database of its own.
  'src/import/pg-boss/',
];
const MAY_READ_AMBIENT = [
  'src/config/',
  'src/runtime/',
  // The root of a process: no caller can pass it a clock.
  'src/worker/runner/main.ts',
  'src/worker/runner/thread.ts',
  'src/worker/probe/main.ts',
  // Ready-made jobs read secrets of their process.
  'src/batteries/ready-job.ts',
  // The SDK runs in the process of its caller.
  'src/client/http/request-id.ts',
];
const PURE = ['src/core/', 'src/protocol/', 'src/schedule/', 'src/doctor/'];

const FOLDERS = ['src', 'web/src', 'chaos', 'test', 'docs', 'examples', 'scripts'];
const BENCH = [
  'agent',
  'capacity',
  'charts',
  'harness',
  'pages',
  'servers',
  'systems',
  'workloads',
];

test('no folder holds more than 25 files besides its sub-folders', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const crowded = [...FOLDERS, ...BENCH.map((name) => `bench/${name}`)].flatMap((folder) => {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const counts = new Map<string, number>();
    for (const { parentPath, name } of entries.filter((one) => one.isFile())) {
      if (!parentPath.includes('node_modules') && !name.startsWith('.')) {
        counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1);
      }
    }
    return [...counts].filter(([, count]) => count > 25).map(([path]) => path.slice(root.length));
  });
  expect(crowded).toEqual([]);
});

describe('the source', () => {
  const files = readSources('src').map(parse);

  it('is read at all', () => expect(files.length).toBeGreaterThan(100));
  it('imports only what its folder may', () => expect(wrongImports(files, IMPORTS)).toEqual([]));
  it('has no import cycle', () => expect(importCycles(files)).toEqual([]));
  it('loads no HTTP server into an application that has Longshore inside', () => {
    const loaded = [...loadedBy('src/app/in-process.ts', files)];
    expect(loaded).toContain('src/store/claim/claim.ts');
    expect(loaded.filter((path) => path.startsWith('src/http/'))).toEqual([]);
  });
  it('loads no HTTP server into a worker process', () => {
    const loaded = [...loadedBy('src/app/worker-process.ts', files)];
    expect(loaded).toContain('src/store/claim/claim.ts');
    const foreign = /^src\/(http|controller|reports|identity)\//;
    expect(loaded.filter((path) => foreign.test(path))).toEqual([]);
  });
  it('has no file of more than 400 lines', () => expect(longFiles(files, LINES_MAX)).toEqual([]));
  it('holds SQL in the store only', () => {
    expect(strayStatements(files, MAY_HOLD_SQL)).toEqual([]);
  });
  it('reads environment and clock at its edges only', () => {
    expect(ambientReads(files, MAY_READ_AMBIENT)).toEqual([]);
  });
  it('gets the clock of the store from its caller', () => {
    const inStore = files.filter(({ path }) => /^src\/(store|enqueue)\//.test(path));
    expect(inStore.length).toBeGreaterThan(100);
    const naming = inStore.filter(({ source }) => source.includes('systemClock'));
    expect(naming.map(({ path }) => path)).toEqual([]);
  });
  it('is pure where it says so', () => expect(impureReads(files, PURE)).toEqual([]));
  it('can be run by erasing its types', () => expect(nonErasable(files)).toEqual([]));

  it('can be read by a newcomer in one sitting: under 900 lines', () => {
    const script = fileURLToPath(new URL('../scripts/newcomer-path.ts', import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect(stdout).toContain('src/app/app.ts');
    expect(status).toBe(0);
  });
});

/** The dashboard is built for browsers: it meets the server in its API only, and shares its words. */
describe('the dashboard', () => {
  const files = readSources('web/src').map(parse);
  const rows: ImportRow[] = [
    {
      at: 'web/src/',
      may: ['src/core/'],
      types: ['src/client/', 'src/protocol/'],
      packages: [
        'react',
        'react-dom',
        '@tanstack/react-query',
        '@tanstack/react-router',
        'cronstrue',
        'uplot',
      ],
    },
    { at: 'src/core/', may: [] },
    { at: 'src/client/', may: [] },
    { at: 'src/protocol/', may: [] },
  ];

  it('imports nothing of the server but its words', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(wrongImports(files, rows)).toEqual([]);
  });
  it('has no import cycle', () => expect(importCycles(files)).toEqual([]));
  it('has no file of more than 300 lines', () => expect(longFiles(files, 300)).toEqual([]));
  it('knows the time in one place only', () => {
    expect(ambientReads(files, ['web/src/runtime/'])).toEqual([]);
  });
  it('is pure in its words', () => expect(impureReads(files, ['web/src/words/'])).toEqual([]));
  it('puts no text into the page but as text', () => {
    const back = /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write/;
    expect(files.filter(({ source }) => back.test(source)).map(({ path }) => path)).toEqual([]);
  });
});

/** What judges the histories of chaos runs must not be able to do anything else. */
describe('the chaos checker', () => {
  const files = readSources('chaos/check').map(parse);
  const outside = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ target, typeOnly }) => !typeOnly && !/^(chaos\/check|src\/core)\//.test(target))
      .map(({ target }) => `${path} imports ${target}`),
  );

  it('imports nothing but itself, the words of a history and those of jobs', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(outside).toEqual([]);
  });
  it('is pure', () => expect(impureReads(files, ['chaos/check/'])).toEqual([]));
  it('has no import cycle', () => expect(importCycles(files)).toEqual([]));
});

/** A made-up file: the rule must see what is wrong with it, and only that. */
const one = (path: string, source: string) => [parse({ path, source })];

describe('the rule of imports', () => {
  test.each([
    [
      'a sideways import',
      'src/http/a.ts',
      "import { b } from '../worker/b.ts';",
      'src/worker/b.ts',
    ],
    ['an upward import', 'src/core/a.ts', "import { b } from '../store/b.ts';", 'src/store/b.ts'],
    ['a re-export', 'src/core/a.ts', "export * from '../store/b.ts';", 'src/store/b.ts'],
    ['a named re-export', 'src/core/a.ts', "export { b } from '../store/b.ts';", 'src/store/b.ts'],
    ['a dynamic import', 'src/core/a.ts', "await import('../store/b.ts');", 'src/store/b.ts'],
    ['a bare import', 'src/core/a.ts', "import '../store/b.ts';", 'src/store/b.ts'],
    ['Node in core', 'src/core/a.ts', "import { join } from 'node:path';", 'node:path'],
    ['Node without its prefix', 'src/store/a.ts', "import { join } from 'path';", 'path'],
    ['a package', 'src/worker/a.ts', "import pg from 'pg';", 'pg'],
    ['a part of a package', 'src/http/a.ts', "import x from '@fastify/x/y';", '@fastify/x'],
    [
      'the worker from the runner',
      'src/worker/runner/a.ts',
      "import '../b.ts';",
      'src/worker/b.ts',
    ],
    ['a computed path', 'src/store/a.ts', 'await import(name);', '(computed)'],
    [
      'a value where types are allowed',
      'src/cli/a.ts',
      "import { type B } from '../runtime/b.ts';",
      'src/runtime/b.ts',
    ],
    ['the command line from the root', 'src/app/app.ts', "import '../cli/b.ts';", 'src/cli/b.ts'],
    [
      'what may only be lazy',
      'src/index.ts',
      "import './app/in-process.ts';",
      'src/app/in-process.ts',
    ],
    ['a file outside src', 'src/core/a.ts', "import x from '../../package.json';", 'package.json'],
  ])('sees %s', (_, path, source, target) => {
    const [complaint, ...more] = wrongImports(one(path, source), IMPORTS);
    expect(complaint).toMatch(`${path}:1 imports ${target}, which src/`);
    expect(more).toEqual([]);
  });

  test.each([
    ['types count too', 'src/http/a.ts', "import type { B } from '../worker/b.ts';"],
    ['import types count too', 'src/http/a.ts', "let x: import('../worker/b.ts').B;"],
  ])('%s', (_, path, source) => {
    const words = `${path}:1 imports types of src/worker/b.ts, which src/http/ may not`;
    expect(wrongImports(one(path, source), IMPORTS)).toEqual([words]);
  });

  test.each([
    ['itself', 'src/core/a.ts', "import './b.ts';"],
    ['a folder below its own', 'src/http/a.ts', "import './routes/b.ts';"],
    ['what its row says', 'src/worker/a.ts', "import '../store/b.ts'; import 'node:fs';"],
    ['the one file it may', 'src/worker/runner/a.ts', "import '../ipc.ts';"],
    ['types where they are allowed', 'src/cli/a.ts', "import type { B } from '../runtime/b.ts';"],
    ['what it loads lazily', 'src/index.ts', "await import('./app/in-process.ts');"],
    ['definitions', 'src/worker/runner/load.ts', 'await import(name);'],
    ['nothing, in a comment', 'src/core/a.ts', "// import '../store/b.ts';"],
    ['nothing, in a string', 'src/core/a.ts', 'const text = "import \'../store/b.ts\'";'],
  ])('allows a file to import %s', (_, path, source) => {
    expect(wrongImports(one(path, source), IMPORTS)).toEqual([]);
  });

  test('wants a row for every folder', () => {
    const words = ['src/new/a.ts has no row in the table of imports'];
    expect(wrongImports(one('src/new/a.ts', ''), IMPORTS)).toEqual(words);
  });
});
