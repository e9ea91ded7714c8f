import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { blocksOf, PAGES } from './support/checks/docs-blocks.ts';

/** All TypeScript of the README and of docs/, compiled against the types that a user of the package gets. */

const ROOT = fileURLToPath(new URL('../', import.meta.url));
// Inside the checkout, so that `longshore` resolves as it does for a user.
const FOLDER = join(ROOT, 'tmp', 'docs-types');
afterAll(async () => await rm(FOLDER, { recursive: true, force: true }));

/** What blocks leave to their reader. */
const READERS = `
  declare function fetchRows(month: string): Promise<{ amount: number }[]>;
  declare function render(rows: { amount: number }[]): Promise<{ file: string }>;
  declare function page(message: string): Promise<void>;
  declare module '@opentelemetry/exporter-trace-otlp-http' {
    import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
    export const OTLPTraceExporter: new () => SpanExporter;
  }`;

// A machine that is busy with other work compiles slowly.
it('compiles', { timeout: 180_000 }, async () => {
  let blocks = 0;
  for (const page of PAGES) {
    for (const [index, { file, text }] of blocksOf(page, 'ts').entries()) {
      const path = join(FOLDER, page, file ?? `block-${index}.ts`);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      blocks += 1;
    }
  }
  expect(blocks).toBeGreaterThan(25);
  await writeFile(join(FOLDER, 'readers.d.ts'), READERS);
  const config = { extends: '../../tsconfig.json', include: ['.'] };
  await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const said = await promisify(execFile)(process.execPath, [tsc, '-p', FOLDER, '--pretty', 'false'])
    .then(({ stdout }) => stdout)
    .catch((error: { stdout: string; message: string }) => error.stdout || error.message);
  expect(said).toBe('');
});
