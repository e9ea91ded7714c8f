import { Marked, Renderer, type Tokens } from 'marked';
import type { Highlight } from './highlight.ts';
import { Markup, markup } from './markup.ts';
import { PAIRS } from './pairs.ts';

export interface Heading {
  depth: number;
  text: string;
  id: string;
}

export interface DocsPage {
  name: string;
  title: string;
  headings: readonly Heading[];
  body: Markup;
}

/**
 * A page of the docs as HTML. The text is our own, but the rules are those for anybody's: what looks
 * like HTML stays text, and links lead to other pages of the docs or nowhere. A link to a file of the
 * checkout has no place to lead to in a package, so only its words are left.
 */
export function renderMarkdown(name: string, text: string, highlight: Highlight): DocsPage {
  const headings: Heading[] = [];
  const taken = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const words = this.parser.parseInline(tokens, this.parser.textRenderer);
        const id = freeId(slugOf(words), taken);
        headings.push({ depth, text: plain(words), id });
        const inner = new Markup(this.parser.parseInline(tokens));
        const level = new Markup(`h${depth}`);
        return markup`<${level} id="${id}"><a class="anchor" href="${name}#${id}">${inner}</a></${level}>\n`
          .text;
      },
      link({ href, tokens }: Tokens.Link): string {
        const words = this.parser.parseInline(tokens);
        // Between files one names the file; between pages, what is in it.
        const inner = new Markup(
          words === href ? words.replace('.md', '').replaceAll('-', ' ') : words,
        );
        const target = linkTarget(name, href);
        return (target === null ? inner : markup`<a href="${target}">${inner}</a>`).text;
      },
      // Wider than a phone it scrolls by itself, also by keyboard.
      table(token: Tokens.Table): string {
        const table: string = Renderer.prototype.table.call(this, token);
        // An empty corner is no header.
        const inner = new Markup(table.replaceAll(/<th(?: align="\w+")?><\/th>/g, '<td></td>'));
        return markup`<div class="table" tabindex="0">${inner}</div>\n`.text;
      },
      // The script of the page adds a button that copies it.
      code: ({ text: code, lang = '' }: Tokens.Code): string =>
        markup`<div class="code"><pre tabindex="0"><code>${highlight(code, lang)}</code></pre></div>\n`
          .text,
      image: ({ href, text: words }: Tokens.Image): string =>
        markup`<img src="${href.replace(/^\.\.\//, '')}" alt="${words}" loading="lazy">`.text,
      html: ({ text: raw }: Tokens.HTML | Tokens.Tag): string => markup`${raw}`.text,
    },
  });
  marked.use(PAIRS);
  const body = new Markup(marked.parse(text, { async: false }));
  return { name, title: headings[0]?.text ?? name, headings, body };
}

/** Null when there is nothing to lead to. Relative, so that it stays below the path of a proxy. */
function linkTarget(page: string, href: string): string | null {
  if (/^https?:/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const name = path === '' ? page : /^(?:\.\.\/)?(?:[a-z]+\/)?([a-z-]+)\.md$/.exec(path)?.[1];
  if (name === undefined) return null;
  return anchor === undefined ? name : `${name}#${anchor}`;
}

/** As GitHub makes them, so that one link serves both. */
function slugOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function freeId(slug: string, taken: Set<string>): string {
  let id = slug;
  for (let n = 1; taken.has(id); n += 1) id = `${slug}-${n}`;
  taken.add(id);
  return id;
}

/** The parser has escaped these for HTML already. */
export function plain(words: string): string {
  return words
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');
}
