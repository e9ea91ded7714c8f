/** The part of pdfkit that the example uses; the package brings no types. */
declare module 'pdfkit' {
  import type { Readable } from 'node:stream';

  export default class PDFDocument extends Readable {
    constructor(options?: { size?: string; margin?: number; info?: Record<string, string> });
    fontSize(points: number): this;
    font(name: string): this;
    fillColor(color: string): this;
    text(text: string, x?: number, y?: number, options?: { width?: number; align?: string }): this;
    moveDown(lines?: number): this;
    rect(x: number, y: number, width: number, height: number): this;
    fill(color: string): this;
    readonly y: number;
    end(): void;
  }
}
