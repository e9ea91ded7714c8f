/** The part of pdfkit that reports and examples use; the package brings no types. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream';

  interface DocumentOptions {
    size?: string;
    layout?: 'portrait' | 'landscape';
    margin?: number;
    autoFirstPage?: boolean;
    info?: Record<string, string>;
  }

  interface TextOptions {
    width?: number;
    height?: number;
    align?: string;
    ellipsis?: boolean;
    lineBreak?: boolean;
  }

  export default class PDFDocument extends Readable {
    constructor(options?: DocumentOptions);
    readonly page: { width: number; height: number };
    addPage(): this;
    fontSize(points: number): this;
    font(name: string): this;
    fillColor(color: string): this;
    text(text: string, x?: number, y?: number, options?: TextOptions): this;
    widthOfString(text: string): number;
    moveDown(lines?: number): this;
    rect(x: number, y: number, width: number, height: number): this;
    fill(color: string): this;
    readonly y: number;
    end(): void;
  }
}
