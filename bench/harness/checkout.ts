import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from './options.ts';

const own = fileURLToPath(new URL('../..', import.meta.url));

/** A checkout of Longshore, and the code of this benchmark that uses its sources. */
export class Checkout {
  readonly root: string;
  /** The folder whose `../src` is the checkout's. */
  readonly #bench: string;

  constructor(root = own, bench = join(root, 'bench')) {
    this.root = root;
    this.#bench = bench;
  }

  get agentFile(): string {
    return join(this.#bench, 'agent/main.ts');
  }

  get program(): string {
    return join(this.root, 'bin/longshore.js');
  }

  definitionFile(name: string): string {
    return join(this.#bench, 'definitions', name);
  }
}

/** Another checkout, measured by a copy of this benchmark's code that imports its sources. */
export function baselineOf(directory: string, folder: string): Checkout {
  const root = resolve(directory);
  for (const needed of ['src/index.ts', 'bin/longshore.js', 'node_modules']) {
    if (!existsSync(join(root, needed))) {
      throw new UsageError(`--baseline ${directory}: ${needed} is missing there`);
    }
  }
  const beside = join(folder, 'baseline');
  const bench = join(beside, 'bench');
  mkdirSync(bench, { recursive: true });
  symlinkSync(join(root, 'src'), join(beside, 'src'));
  for (const part of ['package.json', 'agent', 'definitions', 'harness', 'systems']) {
    cpSync(join(own, 'bench', part), join(bench, part), { recursive: true });
  }
  return new Checkout(root, bench);
}
