import { createRequire } from 'node:module';
import { Markup, markup } from './markup.ts';

/** Code as HTML, with the parts of its language marked. */
export type Highlight = (code: string, language: string) => Markup;

/** What stands behind the fences of the pages, by the names of highlight.js. */
const LANGUAGES: Readonly<Record<string, string>> = {
  ts: 'typescript',
  js: 'javascript',
  sh: 'bash',
  sql: 'sql',
  json: 'json',
  yaml: 'yaml',
  python: 'python',
  ruby: 'ruby',
};

/** The part of highlight.js that is used here. */
interface Highlighter {
  newInstance(): Highlighter;
  registerLanguage(name: string, language: unknown): void;
  highlight(code: string, options: { language: string }): { value: string };
}

/**
 * Loaded with the pages: most servers never show them. Not imported, because the types of the package
 * bring those of browsers, and then all code of the server could name `window`.
 */
export function loadHighlight(): Highlight {
  const require = createRequire(import.meta.url);
  const highlighter = (require('highlight.js/lib/core') as Highlighter).newInstance();
  for (const name of Object.values(LANGUAGES)) {
    highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
  }
  return (code, fence) => {
    const language = LANGUAGES[fence];
    if (language === undefined) return markup`${code}`;
    return new Markup(highlighter.highlight(code, { language }).value);
  };
}
