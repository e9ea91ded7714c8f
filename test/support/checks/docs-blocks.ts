import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The fenced blocks of the README and of docs/, as a reader would copy them. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

export interface Block {
  page: string;
  /** What stands behind the fence; empty for what a program prints and for drawings. */
  language: string;
  text: string;
  /** The file that its first line says it is. */
  file: string | null;
}

export function blocksOf(page: string, language?: string): Block[] {
  const markdown = readFileSync(join(ROOT, page), 'utf8');
  return [...markdown.matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms)]
    .map(([, fence = '', text = '']) => {
      const file = /^\/\/ (?:test\/)?(\S+\.ts)\n/.exec(text)?.[1] ?? null;
      return { page, language: fence, text, file };
    })
    .filter((block) => language === undefined || block.language === language);
}

export interface CommandLine {
  /** As it stands there, without its comment. */
  line: string;
  /** What stands before it: `NAME=value npx longshore …`. */
  env: Record<string, string>;
  /** What follows `longshore`, up to a pipe. */
  args: string[];
}

/** The lines of a shell block that call longshore. */
export function commandsIn({ text }: Block): CommandLine[] {
  return text.split('\n').flatMap((whole) => {
    const line = whole.replace(/\s+#.*$/, '');
    const found = /(?:^|[\s(])longshore (.*)$/.exec(line);
    if (!found) return [];
    const [, before = ''] = /^((?:[A-Z_]+=(?!\$\()\S+ )+)(?:npx )?longshore/.exec(line) ?? [];
    const env = Object.fromEntries(
      before
        .trim()
        .split(' ')
        .filter(Boolean)
        .map((pair) => [pair.split('=')[0] ?? '', wordsOf(pair.replace(/^\w+=/, ''))[0] ?? '']),
    );
    return [{ line, env, args: wordsOf(found[1] ?? '') }];
  });
}

function wordsOf(text: string): string[] {
  const [words = ''] = /^(?:\s*(?:"[^"]*"|'[^']*'|[^\s'"|)<>]+))*/.exec(text) ?? [];
  return [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}
