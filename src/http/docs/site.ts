import { readdir, readFile } from 'node:fs/promises';
import { DOCS_CONTENTS, DOCS_PAGES } from './contents.ts';
import { type DocsPage, renderMarkdown } from './markdown.ts';
import { layout } from './layout.ts';
import { type Markup, markup } from './markup.ts';

// One folder up from `src` and from `dist` alike; the package has it too.
const FOLDER = new URL('../../../docs/', import.meta.url);
const FOUND_MAX = 50;

/**
 * The docs for people: the Markdown files of `docs/` in one frame. They are read once, when a reader
 * first wants them. Searching is a form and an answer; there is no script at all.
 */
export class DocsSite {
  readonly #pages: ReadonlyMap<string, DocsPage>;
  readonly #images: ReadonlyMap<string, Buffer>;

  private constructor(pages: readonly DocsPage[], images: ReadonlyMap<string, Buffer>) {
    this.#pages = new Map(pages.map((page) => [page.name, page]));
    this.#images = images;
  }

  static async read(): Promise<DocsSite> {
    const pages = await Promise.all(
      DOCS_PAGES.map(async (name) =>
        renderMarkdown(name, await readFile(new URL(`${name}.md`, FOLDER), 'utf8')),
      ),
    );
    const images = new Map<string, Buffer>();
    for (const name of await readdir(new URL('images/', FOLDER))) {
      images.set(name, await readFile(new URL(`images/${name}`, FOLDER)));
    }
    return new DocsSite(pages, images);
  }

  get pages(): readonly DocsPage[] {
    return [...this.#pages.values()];
  }

  image(name: string): Buffer | undefined {
    return this.#images.get(name);
  }

  /** Null when there is no such page. */
  page(name: string): string | null {
    const page = this.#pages.get(name);
    if (!page) return null;
    return layout({ title: page.title, menu: this.#menu(page), body: page.body, base: './' });
  }

  /** Where one begins: all pages, with what each is about. */
  home(base: string): string {
    const groups = DOCS_CONTENTS.map(
      ({ group, pages }) =>
        markup`<section><h2>${group}</h2><ul>${pages.map((name) => {
          const { title = name, headings = [] } = this.#pages.get(name) ?? {};
          const about = headings.filter(({ depth }) => depth === 2).map(({ text }) => text);
          return markup`<li><a href="${name}">${title}</a>
<span class="about">${about.slice(0, 5).join(' · ')}</span></li>`;
        })}</ul></section>`,
    );
    const body = markup`<h1>Longshore</h1>
<p>A job server for long-running work. New here? Begin with the <a href="quick-start">quick start</a>.
Every call of the HTTP API is in the <a href="api">API reference</a>.</p>
<div class="contents">${groups}</div>`;
    return layout({ title: 'Docs', menu: this.#menu(null), body, base });
  }

  /** Headings that have all the words. */
  search(question: string): string {
    const words = question.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.pages.flatMap((page) =>
      page.headings
        .filter(({ text }) => {
          const whole = `${page.title} ${text}`.toLowerCase();
          return words.length > 0 && words.every((word) => whole.includes(word));
        })
        .map((heading) => ({ page, heading })),
    );
    const rows = found.slice(0, FOUND_MAX).map(
      ({ page, heading }) => markup`<li><a href="${page.name}#${heading.id}">${heading.text}</a>
<span class="about">${page.title}</span></li>`,
    );
    const body = markup`<h1>Search</h1>
<p>${found.length} headings have <q>${question}</q>.</p><ul>${rows}</ul>`;
    return layout({ title: 'Search', menu: this.#menu(null), body, base: './', question });
  }

  #menu(current: DocsPage | null): Markup {
    const item = (name: string, title: string, here: boolean, inner: readonly Markup[] = []) =>
      markup`<li><a href="${name}"${here ? markup` aria-current="page"` : ''}>${title}</a>${
        inner.length > 0 ? markup`<ul>${inner}</ul>` : ''
      }</li>`;
    const groups = DOCS_CONTENTS.map(({ group, pages }) => {
      const links = pages.map((name) => {
        const inner = (current?.name === name ? current.headings : [])
          .filter(({ depth }) => depth === 2)
          .map(({ id, text }) => item(`${name}#${id}`, text, false));
        return item(name, this.#pages.get(name)?.title ?? name, current?.name === name, inner);
      });
      const api = group === 'Reference' ? [item('api', 'API reference', false)] : [];
      return markup`<p>${group}</p><ul>${[...api, ...links]}</ul>`;
    });
    return markup`${groups}`;
  }
}
