import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

/** A file of the dashboard, ready to be sent. */
export interface WebFile {
  body: Buffer;
  type: string;
  etag: string;
}

export type WebFiles = ReadonlyMap<string, WebFile>;

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * All files of a folder by their path below it. There are few and they are small, so they are kept
 * in memory; and what is not in this list cannot be asked for, however a path is written.
 */
export async function readWebFiles(folder: string): Promise<WebFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Map(
    await Promise.all(
      files.map(async ({ parentPath, name }): Promise<[string, WebFile]> => {
        const path = `${parentPath}/${name}`;
        const type = TYPES[extname(name)] ?? 'application/octet-stream';
        return [path.slice(folder.length + 1), webFile(await readFile(path), type)];
      }),
    ),
  );
}

/**
 * The page as it is sent for a path below /ui/. It names its files relative to the root of the
 * dashboard, and how far up that is depends on the path alone: so nobody has to tell the server below
 * which path of which proxy it is.
 */
export function pageFor(page: WebFile, path: string): WebFile {
  const up = '../'.repeat(path.split('/').length - 1) || './';
  const html = page.body.toString('utf8').replace('<base href="./" />', `<base href="${up}" />`);
  return webFile(Buffer.from(html), page.type);
}

function webFile(body: Buffer, type: string): WebFile {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return { body, type, etag: `"${hash}"` };
}
