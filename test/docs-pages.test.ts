import { readdirSync, readFileSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TRANSITIONS } from '../src/core/job/transitions.ts';
import { DOCS_PAGES } from '../src/http/docs/contents.ts';
import { renderMarkdown } from '../src/http/docs/markdown.ts';
import { loadHighlight } from '../src/http/docs/highlight.ts';
import { DOCS_STYLE } from '../src/http/docs/style.ts';

/** What pages say about each other, and about the code, holds. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.md'),
);
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('README.md'))
  .map((name) => `examples/${name}`);
const WRITTEN = [
  'README.md',
  'AGENTS.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...pages.map((name) => `docs/${name}`),
  ...EXAMPLES,
];

/** Blocks and code in a line may show links that are none. */
const prose = (path: string) =>
  read(path)
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]+`/g, '`…`');

it('all pages of the folder are in the contents, and no other', () => {
  expect([...DOCS_PAGES].sort()).toEqual(pages.map((name) => name.replace('.md', '')).sort());
});

const highlight = loadHighlight();

describe('links', () => {
  it.each(WRITTEN)('of %s lead somewhere', (path) => {
    const links = [...prose(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = '']) => href);
    const broken = links.filter((href) => {
      if (/^https?:/.test(href)) return false;
      const [file = '', anchor] = href.split('#');
      const target = file === '' ? path : join(dirname(path), file);
      if (!existsSync(join(ROOT, target))) return true;
      if (anchor === undefined) return false;
      return !renderMarkdown('x', read(target), highlight).headings.some(({ id }) => id === anchor);
    });
    expect(broken).toEqual([]);
  });
});

it('the quick start is the walk of the README', () => {
  const blocks = (path: string, from: string, to: string) => {
    const text = read(path);
    const section = text.slice(text.indexOf(from), text.indexOf(to));
    return [...section.matchAll(/^```.*?^```$/gms)].map(([block]) => block);
  };
  const walk = blocks('README.md', '## Your own job', '## Test it');
  expect(walk).toHaveLength(5);
  expect(blocks('docs/quick-start.md', '# Quick start', '## What you have now')).toEqual(walk);
});

it('the states of docs/concepts.md are those of the code', () => {
  const rows = [
    ...read('docs/concepts.md').matchAll(/^\| `(\w+)` \| `(\w+)` \| (.+) \| (.+) \|$/gm),
  ];
  expect(rows.map(([, from, to, why, who]) => ({ from, to, why, who }))).toEqual(TRANSITIONS);
});

it('the site has the colours of the dashboard', () => {
  const tokens = read('web/src/styles/tokens.css');
  const colours = [...DOCS_STYLE.text.matchAll(/--[\w-]+: light-dark\([^)]+\)/g)];
  expect(colours.length).toBeGreaterThan(5);
  for (const [colour] of colours) expect(tokens).toContain(`${colour};`);
});
