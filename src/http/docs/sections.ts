import { type DocsPage, plain } from './markdown.ts';

/** A part of a page below one heading. */
export interface Section {
  page: string;
  title: string;
  heading: string;
  /** Of the heading, in the page. */
  anchor: string;
  text: string;
}

const HEADING = /<h[1-6] id="([^"]*)">/;

/** The text of a page without its tags, by heading. */
export function sectionsOf({ name, title, headings, body }: DocsPage): Section[] {
  const [, ...parts] = body.text.split(HEADING);
  const sections: Section[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const anchor = parts[at] ?? '';
    const html = (parts[at + 1] ?? '').replace(/^.*?<\/h[1-6]>/s, '');
    const text = plain(html.replaceAll(/<[^>]*>/g, (tag) => (INLINE.test(tag) ? '' : ' ')));
    const heading = headings.find(({ id }) => id === anchor)?.text ?? title;
    sections.push({
      page: name,
      title,
      heading,
      anchor,
      text: text.replaceAll(/\s+/g, ' ').trim(),
    });
  }
  return sections;
}

/** Tags inside of words and sentences; others end one. */
const INLINE = /^<\/?(a|code|em|strong|span)\b/;
