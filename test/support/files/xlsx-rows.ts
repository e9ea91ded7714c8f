import { promisify } from 'node:util';
import { fromBuffer, type Entry, type ZipFile } from 'yauzl';

/** The files of a zip archive. yauzl compares sizes and checksums. */
export async function unzipped(bytes: Buffer): Promise<Record<string, string>> {
  const zip = await promisify<Buffer, object, ZipFile>(fromBuffer as never)(bytes, {
    lazyEntries: true,
  });
  const files: Record<string, string> = {};
  await new Promise<void>((resolve, reject) => {
    zip.on('error', reject).on('end', () => resolve());
    zip.on('entry', (entry: Entry) => {
      zip.openReadStream(entry, (error, stream) => {
        if (error) return reject(error);
        const chunks: Buffer[] = [];
        stream.on('error', reject).on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          files[entry.fileName] = Buffer.concat(chunks).toString();
          zip.readEntry();
        });
      });
    });
    zip.readEntry();
  });
  return files;
}

export type ReadCell = string | number | boolean | Date | null;

/** The cells of the first sheet. Dates are those with a format of dates. */
export async function xlsxRows(bytes: Buffer): Promise<ReadCell[][]> {
  const { 'xl/worksheets/sheet1.xml': sheet = '' } = await unzipped(bytes);
  return [...sheet.matchAll(/<row r="\d+">(.*?)<\/row>/gs)].map(([, row = '']) => {
    const cells: ReadCell[] = [];
    for (const [, attributes = '', content = ''] of row.matchAll(/<c ([^>]*)>(.*?)<\/c>/gs)) {
      const letters = /r="([A-Z]+)\d+"/.exec(attributes)?.[1] ?? '';
      const at = letters.split('').reduce((sum, one) => sum * 26 + one.charCodeAt(0) - 64, 0) - 1;
      while (cells.length < at) cells.push(null);
      cells.push(cellOf(attributes, content));
    }
    return cells;
  });
}

function cellOf(attributes: string, content: string): ReadCell {
  if (attributes.includes('t="inlineStr"')) {
    return plain(/<is><t[^>]*>(.*)<\/t><\/is>/s.exec(content)?.[1] ?? '');
  }
  const value = Number(/<v>(.*)<\/v>/.exec(content)?.[1]);
  if (attributes.includes('t="b"')) return value === 1;
  const isDate = /s="[23]"/.test(attributes);
  return isDate ? new Date(Math.round((value - 25_569) * 86_400_000)) : value;
}

const ENTITIES: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#13': '\r', amp: '&' };

function plain(text: string): string {
  return text.replaceAll(/&(lt|gt|quot|#13|amp);/g, (_, name: string) => ENTITIES[name] ?? '');
}
