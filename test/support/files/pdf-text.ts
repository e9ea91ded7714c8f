import { inflateSync } from 'node:zlib';

/** The texts of each page of a PDF of pdfkit, in the order in which they were drawn. */
export function pdfPages(bytes: Buffer): string[][] {
  const pages: string[][] = [];
  const source = bytes.toString('latin1');
  for (const found of source.matchAll(/stream\n/g)) {
    if (source.slice(found.index - 3, found.index) === 'end') continue;
    const begin = found.index + found[0].length;
    const content = inflated(bytes.subarray(begin, source.indexOf('endstream', begin)));
    const texts = [...content.matchAll(/\[(.*?)\] TJ/g)].map(([, parts = '']) =>
      [...parts.matchAll(/<([0-9a-f]*)>/g)]
        .map(([, hex = '']) => Buffer.from(hex, 'hex').toString('latin1'))
        .join(''),
    );
    if (texts.length > 0) pages.push(texts);
  }
  return pages;
}

function inflated(bytes: Buffer): string {
  try {
    return inflateSync(bytes).toString('latin1');
  } catch {
    return '';
  }
}
