import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

/** A file of the dashboard. */
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
 * All files of a folder by path. They are few and small, so they are kept in memory; only listed
 * paths can be requested.
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
 * The page for a path below /ui/. It names its files relative to the root of the dashboard, whose
 * depth depends on the path alone: the server need not know the path prefix of a proxy.
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
