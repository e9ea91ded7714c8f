// The package brings no types, and programs that import this file compile it without ours.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./pdfkit.d.ts" />
import type PDFDocument from 'pdfkit';
import { NonRetryable } from '../../core/definition/define.ts';
import { type Column, type Row, type Table, textOf } from './table.ts';

/** How the pages of a PDF look. */
export interface PdfOptions {
  /** Default A4. */
  size?: 'A3' | 'A4' | 'A5' | 'LETTER' | 'LEGAL' | undefined;
  landscape?: boolean | undefined;
  /** Beside the title, such as the name of the company. */
  header?: string | undefined;
  /** Beside the number of the page. */
  footer?: string | undefined;
  /** A TrueType or OpenType file, for texts in other than Western European letters. */
  font?: string | undefined;
}

/** A PDF is for people: more rows belong into a spreadsheet. */
export const PDF_ROWS_MAX = 10_000;

const MARGIN = 40;
const LINE = 14;
const [TITLE_SIZE, TEXT_SIZE, SMALL_SIZE] = [15, 9, 8];
const GAP = 6;
/** The fonts that every PDF reader has know these characters only. */
const WESTERN =
  /[^\u0020-\u007e\u00a0-\u00ff\u20ac\u201a\u201e\u2026\u2018\u2019\u201c\u201d\u2013\u2014\u2022]/gu;

export async function* pdfOf(
  { columns, parts }: Table,
  title: string,
  options: PdfOptions = {},
): AsyncGenerator<Uint8Array> {
  const pages = new Pages(await newDocument(title, options), columns, title, options);
  for await (const rows of parts) {
    for (const row of rows) pages.add(row);
    yield* pages.finished();
  }
  yield* pages.end();
}

/** Draws rows one below the other, and begins a new page where one is full. */
class Pages {
  readonly #document: PDFDocument;
  readonly #columns: readonly (Column & { x: number; points: number })[];
  readonly #title: string;
  readonly #options: PdfOptions;
  readonly #bold: string;
  readonly #plain: string;
  #page = 0;
  #y = 0;

  constructor(
    document: PDFDocument,
    columns: readonly Column[],
    title: string,
    options: PdfOptions,
  ) {
    this.#document = document;
    this.#title = title;
    this.#options = options;
    [this.#plain, this.#bold] = options.font
      ? [options.font, options.font]
      : ['Helvetica', 'Helvetica-Bold'];
    this.#begin();
    this.#columns = placed(columns, document.page.width - 2 * MARGIN);
    this.#headings();
  }

  add(row: Row): void {
    if (this.#y + LINE > this.#document.page.height - MARGIN - LINE) {
      this.#begin();
      this.#headings();
    }
    for (const [at, column] of this.#columns.entries()) {
      this.#cell(textOf(row[at] ?? null, column), column);
    }
    this.#y += LINE;
  }

  /** The bytes so far. */
  *finished(): Generator<Uint8Array> {
    for (;;) {
      const chunk = this.#document.read() as Buffer | null;
      if (chunk === null) return;
      yield chunk;
    }
  }

  async *end(): AsyncGenerator<Uint8Array> {
    this.#document.end();
    for await (const chunk of this.#document as AsyncIterable<Buffer>) yield chunk;
  }

  #begin(): void {
    const document = this.#document.addPage();
    const { header = '', footer = '' } = this.#options;
    const { width: pageWidth, height } = document.page;
    const width = pageWidth - 2 * MARGIN;
    this.#page += 1;
    if (this.#page === 1) {
      document.font(this.#bold).fontSize(TITLE_SIZE);
      this.#text(this.#title, MARGIN, MARGIN, width);
    }
    document.font(this.#plain).fontSize(SMALL_SIZE).fillColor('#555555');
    this.#text(header, MARGIN, MARGIN / 2, width, 'right');
    this.#text(footer, MARGIN, height - MARGIN - SMALL_SIZE / 2, width);
    this.#text(`${this.#page}`, MARGIN, height - MARGIN - SMALL_SIZE / 2, width, 'right');
    this.#y = this.#page === 1 ? MARGIN + 2 * LINE : MARGIN;
  }

  #headings(): void {
    const document = this.#document;
    const width = document.page.width - 2 * MARGIN;
    document
      .rect(MARGIN, this.#y - 3, width, LINE)
      .fill('#e8e8e8')
      .fillColor('#000000');
    document.font(this.#bold).fontSize(TEXT_SIZE);
    for (const column of this.#columns) this.#cell(column.title, column);
    document.font(this.#plain);
    this.#y += LINE + 2;
  }

  #cell(text: string, { x, points, kind }: Column & { x: number; points: number }): void {
    const align = kind === 'number' ? 'right' : 'left';
    this.#text(text, x, this.#y, points, align);
  }

  /** One line; what does not fit is cut and ends in dots. */
  #text(text: string, x: number, y: number, width: number, align = 'left'): void {
    if (text === '') return;
    const shown = this.#fitted(this.#written(text), width);
    const document = this.#document;
    const left = align === 'right' ? x + width - document.widthOfString(shown) : x;
    document.text(shown, left, y, { lineBreak: false });
  }

  #written(text: string): string {
    const line = text.replaceAll(/\s+/g, ' ');
    return this.#options.font === undefined ? line.replaceAll(WESTERN, '?') : line;
  }

  #fitted(text: string, width: number): string {
    const fits = (one: string) => this.#document.widthOfString(one) <= width;
    // No line has more characters than points.
    let [least, most] = [0, Math.min(text.length, Math.floor(width))];
    if (most === text.length && fits(text)) return text;
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      if (fits(`${text.slice(0, middle)}…`)) least = middle;
      else most = middle - 1;
    }
    return `${text.slice(0, least)}…`;
  }
}

/** Columns share the width by their own; without one, a column is as wide as the average. */
function placed(columns: readonly Column[], width: number) {
  const known = columns.flatMap(({ width: own }) => (own === null ? [] : [own]));
  const usual = known.length === 0 ? 1 : known.reduce((sum, one) => sum + one, 0) / known.length;
  const all = columns.reduce((sum, { width: own }) => sum + (own ?? usual), 0);
  let x = MARGIN;
  return columns.map((column) => {
    const share = ((column.width ?? usual) / all) * width;
    const place = { ...column, x: x + GAP / 2, points: Math.max(share - GAP, 1) };
    x += share;
    return place;
  });
}

async function newDocument(title: string, options: PdfOptions): Promise<PDFDocument> {
  const { default: Document } = await import('pdfkit').catch((cause: unknown) => {
    const words = 'reports as PDF need the package "pdfkit": run "npm install pdfkit"';
    throw Object.assign(new NonRetryable(words), { cause });
  });
  const { size = 'A4', landscape = false } = options;
  const layout = landscape ? 'landscape' : 'portrait';
  // Without a margin of its own: texts below the table would begin new pages.
  return new Document({ size, layout, margin: 0, autoFirstPage: false, info: { Title: title } });
}
