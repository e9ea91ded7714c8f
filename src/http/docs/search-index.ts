import { DOCS_CONTENTS } from './contents.ts';
import { type Markup, markup } from './markup.ts';
import type { Section } from './sections.ts';

export interface Found {
  section: Section;
  /** The words around the first match, with all matches marked. */
  excerpt: Markup;
}

export interface Findings {
  total: number;
  found: readonly Found[];
}

const FOUND_MAX = 30;
const BEFORE_CHARS = 60;
const EXCERPT_CHARS = 200;
const NEAR_CHARS = EXCERPT_CHARS - BEFORE_CHARS;
const MATCHES_MAX = 500;
/** In words. */
const LONG_QUESTION = 4;
const MISSED_WEIGHT = 0.6;
/** Two swapped letters of a word of seven. */
const TYPO_DISTANCE = 0.3;

/** Finds sections by all of their words. */
export class SearchIndex {
  readonly #sections: readonly Section[];
  readonly #find: (question: string) => { id: number; terms: string[] }[];

  private constructor(sections: readonly Section[], find: SearchIndex['find']) {
    this.#sections = sections;
    this.#find = find;
  }

  /** Made at the first search, in a few milliseconds a page. */
  static async of(sections: readonly Section[]): Promise<SearchIndex> {
    const { default: MiniSearch } = await import('minisearch');
    const index = new MiniSearch<Section & { id: number }>({
      fields: ['heading', 'title', 'text'],
      processTerm: singular,
      searchOptions: {
        boost: { heading: 4, title: 2 },
        combineWith: 'AND',
        // The last word may still be typed; another short one is whole.
        prefix: (term, at, terms) => term.length > 2 || at === terms.length - 1,
        // Short words have too many neighbours.
        fuzzy: (term) => (term.length > 5 ? 0.15 : false),
      },
    });
    const weights = sections.map(weightOf);
    index.addAll(sections.map((section, id) => ({ id, ...section })));
    return new SearchIndex(sections, (asked) => {
      const phrase = wordsOf(asked);
      const question = tellingWords(phrase);
      const boostDocument = (id: number) => weights[id]?.(phrase) ?? 1;
      const any = index.search(question, { boostDocument, combineWith: 'OR' });
      const wanted = question.split(' ').length;
      // One word of a long question may be another than that of the page.
      const missing = wanted >= LONG_QUESTION ? 1 : 0;
      const near = any
        .map((hit) => ({ ...hit, missed: wanted - hit.queryTerms.length }))
        .filter(({ missed }) => missed <= missing)
        .map((hit) => ({ ...hit, score: hit.missed > 0 ? hit.score * MISSED_WEIGHT : hit.score }))
        .sort((a, b) => b.score - a.score);
      // Some of the words are better than nothing, and so are words that are spelled alike.
      const some = near.length > 0 ? near : any;
      const hits =
        some.length > 0 ? some : index.search(question, { boostDocument, fuzzy: TYPO_DISTANCE });
      return hits.map(({ id, terms }) => ({ id: id as number, terms }));
    });
  }

  find(question: string): { id: number; terms: string[] }[] {
    return this.#find(question);
  }

  search(question: string): Findings {
    const hits = this.find(question);
    const found = hits.slice(0, FOUND_MAX).flatMap(({ id, terms }) => {
      const section = this.#sections[id];
      return section ? [{ section, excerpt: excerptOf(section.text, terms) }] : [];
    });
    return { total: hits.length, found };
  }
}

/** Pages that explain come before pages that list or compare. */
const GROUP_WEIGHTS: Record<string, number> = {
  'Getting started': 1.5,
  Jobs: 2,
  Guides: 2,
  'Moving here': 0.5,
};
const PAGE_WEIGHTS: Record<string, number> = {
  comparison: 0.5,
  'ready-made-jobs': 1,
  'message-brokers': 0.7,
  cli: 0.7,
  internals: 0.4,
  performance: 0.4,
  seeds: 0.1,
};
const PHRASE_WEIGHT = 3;

/** The weight of a section, given the words of a question. */
function weightOf({ page, heading, text }: Section): (phrase: string) => number {
  const group = DOCS_CONTENTS.find(({ pages }) => pages.includes(page))?.group ?? '';
  const weight = PAGE_WEIGHTS[page] ?? GROUP_WEIGHTS[group] ?? 1;
  const words = wordsOf(`${heading} ${text}`);
  return (phrase) =>
    phrase.includes(' ') && words.includes(phrase) ? weight * PHRASE_WEIGHT : weight;
}

const FILLERS = new Set(
  'a an and are can do does for how i in is it my of on or the to what when with'.split(' '),
);

/** Without words that are in every text, unless there are no others. */
function tellingWords(phrase: string): string {
  const telling = phrase.split(' ').filter((word) => !FILLERS.has(word));
  return telling.length > 0 ? telling.join(' ') : phrase;
}

/** "Retries" is found by "retry". */
function singular(word: string): string {
  return word
    .toLowerCase()
    .replace(/(?<=..)ies$/, 'y')
    .replace(/(?<=..[^s])s$/, '');
}

function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[\s-]+/g, ' ')
    .trim();
}

function excerptOf(text: string, terms: readonly string[]): Markup {
  const words = terms
    .filter((term) => term.length > 1)
    .sort((a, b) => b.length - a.length)
    .map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/y$/, '(?:y|ie)'));
  const pattern = words.length > 0 ? new RegExp(`(?<!\\p{L})(${words.join('|')})`, 'giu') : null;
  const first = pattern ? bestPlace(text, pattern) : 0;
  const from = first <= BEFORE_CHARS ? 0 : text.indexOf(' ', first - BEFORE_CHARS) + 1;
  const rest = text.slice(from);
  const part =
    rest.length <= EXCERPT_CHARS ? rest : rest.slice(0, rest.lastIndexOf(' ', EXCERPT_CHARS));
  // Every second piece is a match.
  const pieces = pattern ? part.split(pattern) : [part];
  const marked = pieces.map((piece, at) => (at % 2 === 1 ? markup`<mark>${piece}</mark>` : piece));
  return markup`${from > 0 ? '… ' : ''}${marked}${from + part.length < text.length ? ' …' : ''}`;
}

/** Where the most letters of different words are near each other; 0 when only the heading matches. */
function bestPlace(text: string, pattern: RegExp): number {
  const matches = [...text.matchAll(pattern)].slice(0, MATCHES_MAX);
  let best = { at: 0, letters: 0 };
  for (const [number, { index: at }] of matches.entries()) {
    const near = matches.slice(number).filter((one) => one.index < at + NEAR_CHARS);
    const letters = [...new Set(near.map(([word]) => word.toLowerCase()))].join('');
    if (letters.length > best.letters) best = { at, letters: letters.length };
  }
  return best.at;
}
