import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT } from '../../runtime/code.ts';
import { DOCS_CONTENTS, DOCS_PAGES } from './contents.ts';
import { loadHighlight } from './highlight.ts';
import { type DocsPage, renderMarkdown } from './markdown.ts';
import { layout } from './layout.ts';
import { type Markup, markup } from './markup.ts';
import { type Found, SearchIndex } from './search-index.ts';
import { sectionsOf } from './sections.ts';

const FOLDER = pathToFileURL(join(PACKAGE_ROOT, 'docs/'));

/**
 * The docs for people: the Markdown files of `docs/` in one frame. They are read once, when a reader
 * first wants them. The search is a form and a page; the script of the pages shows the same results
 * while one types.
 */
export class DocsSite {
  readonly #pages: ReadonlyMap<string, DocsPage>;
  readonly #images: ReadonlyMap<string, Buffer>;
  #index: Promise<SearchIndex> | undefined;

  private constructor(pages: readonly DocsPage[], images: ReadonlyMap<string, Buffer>) {
    this.#pages = new Map(pages.map((page) => [page.name, page]));
    this.#images = images;
  }

  static async read(): Promise<DocsSite> {
    const highlight = loadHighlight();
    const pages = await Promise.all(
      DOCS_PAGES.map(async (path) => {
        const text = await readFile(new URL(`${path}.md`, FOLDER), 'utf8');
        return renderMarkdown(basename(path), text, highlight);
      }),
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
<p>A job server for long-running work, on PostgreSQL.</p>
<ul class="first">
<li><a href="quick-start">Quick start</a> <span class="about">your first job in a few minutes</span></li>
<li><a href="writing-jobs">Writing jobs</a> <span class="about">steps, progress, retries, cancelling</span></li>
<li><a href="operating">Operating</a> <span class="about">run it in production</span></li>
<li><a href="api">API reference</a> <span class="about">every call of the HTTP API, with requests that you can send</span></li>
</ul>
<div class="contents">${groups}</div>`;
    return layout({ title: 'Docs', menu: this.#menu(null), body, base });
  }

  /** Sections that have all the words, as a page. */
  async search(question: string): Promise<string> {
    this.#index ??= SearchIndex.of(this.pages.flatMap(sectionsOf));
    const { total, found } = (await this.#index).search(question);
    const count = total === 0 ? 'Nothing' : total === 1 ? '1 section' : `${total} sections`;
    const shown = total > found.length ? `; the best ${found.length}:` : '';
    const body = markup`<h1>Search</h1>
<div id="results"><p>${count} found for <q>${question}</q>${shown}</p><ol>${found.map(row)}</ol></div>`;
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

function row({ section: { page, anchor, heading, title }, excerpt }: Found): Markup {
  const place = heading === title ? '' : markup`<span class="about">${title} ›</span> `;
  return markup`<li><a href="${page}#${anchor}">${place}${heading}<span class="excerpt">${excerpt}</span></a></li>`;
}
