import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import { defineJob, NonRetryable } from 'longshore';
import Pdf from 'pdfkit';
import { z } from 'zod';

interface Totals {
  rows: number;
  total: number;
  byRegion: Record<string, number>;
}

export const salesReport = defineJob({
  key: 'report.sales',
  owner: 'team-finance',
  params: z.object({ csv: z.string(), pdf: z.string(), title: z.string().default('Sales') }),
  retry: 'report',
  timeoutSeconds: 600,
  async run({ csv, pdf, title }, ctx) {
    // Reading a large file takes long; an attempt that only has to draw again need not repeat it.
    const totals = await ctx.step('totals', async () => await sumUp(csv, ctx.progress));
    await ctx.emitEvent('totals.known', totals);
    await mkdir(dirname(pdf), { recursive: true });
    await draw(totals, title, `${pdf}.part`, ctx.abortSignal);
    await rename(`${pdf}.part`, pdf);
    return { pdf, bytes: (await stat(pdf)).size, rows: totals.rows, total: totals.total };
  },
});

/** Row by row: the file may be larger than the memory. */
async function sumUp(
  csv: string,
  progress: (share: number, words: string) => void,
): Promise<Totals> {
  const { size } = await stat(csv);
  const source = createReadStream(csv);
  const totals: Totals = { rows: 0, total: 0, byRegion: {} };
  for await (const row of source.pipe(parse({ columns: true }))) {
    const { region, amount } = row as { region?: string; amount?: string };
    const value = Number(amount);
    if (region === undefined || amount === undefined || Number.isNaN(value)) {
      throw new NonRetryable(`row ${totals.rows + 1} needs a region and an amount`);
    }
    totals.rows += 1;
    totals.total += value;
    totals.byRegion[region] = (totals.byRegion[region] ?? 0) + value;
    if (totals.rows % 10_000 === 0) progress(source.bytesRead / size, `${totals.rows} rows`);
  }
  return totals;
}

async function draw(
  { rows, total, byRegion }: Totals,
  title: string,
  file: string,
  signal: AbortSignal,
) {
  const page = new Pdf({ size: 'A4', margin: 60, info: { Title: title } });
  const written = pipeline(page, createWriteStream(file), { signal });
  page.font('Helvetica-Bold').fontSize(24).text(title).moveDown();
  page
    .font('Helvetica')
    .fontSize(12)
    .text(`${rows} sales, ${total.toFixed(2)} in all`)
    .moveDown();
  const largest = Math.max(...Object.values(byRegion));
  for (const [region, amount] of Object.entries(byRegion).toSorted(([, a], [, b]) => b - a)) {
    const top = page.y + 8;
    page
      .rect(160, top, (300 * amount) / largest, 14)
      .fill('#3b6ea5')
      .fillColor('#000000');
    page.text(region, 60, top).text(amount.toFixed(2), 470, top, { width: 80 });
    page.moveDown(0.4);
  }
  page.end();
  await written;
}
