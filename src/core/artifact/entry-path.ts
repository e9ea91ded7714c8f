import { ArtifactError, type ArtifactErrorCode } from './artifact-error.ts';

/** In bytes of UTF-8, as file systems count. */
const PATH_MAX_BYTES = 1_024;
const NAME_MAX_BYTES = 255;

/**
 * Checks the path of a file inside a bundle and answers with its plain form: relative, with single
 * slashes. A leading `./` and a trailing slash are removed. The folder of the bundle itself is ''.
 */
export function entryPath(written: string): string {
  const refuse = (code: ArtifactErrorCode, why: string) =>
    new ArtifactError(code, `${JSON.stringify(written.slice(0, 200))}: ${why}`);
  if (written.includes('\u0000')) throw refuse('ARCHIVE_NUL', 'a path must not contain NUL');
  if (written.includes('\\')) {
    throw refuse('ARCHIVE_BACKSLASH', 'a path must not contain a backslash');
  }
  if (written.startsWith('/')) throw refuse('ARCHIVE_ABSOLUTE_PATH', 'a path must be relative');
  if (/^(\.\/)*[A-Za-z]:/.test(written)) {
    throw refuse('ARCHIVE_DRIVE_LETTER', 'a path must not begin with a drive letter');
  }
  const path = written.replace(/^(\.\/)+/, '').replace(/\/$/, '');
  if (/^\.?$/.test(path)) {
    if (written.startsWith('.')) return '';
    throw refuse('ARCHIVE_PATH_INVALID', 'a path must not be empty');
  }
  const names = path.split('/');
  if (names.includes('..')) throw refuse('ARCHIVE_PARENT_PATH', 'a path must not contain ..');
  if (names.includes('') || names.includes('.')) {
    throw refuse('ARCHIVE_PATH_INVALID', 'each part of a path needs a name');
  }
  if (!path.isWellFormed() || hasControl(path)) {
    throw refuse('ARCHIVE_PATH_INVALID', 'a path must be text in UTF-8');
  }
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (bytes(path) > PATH_MAX_BYTES || names.some((name) => bytes(name) > NAME_MAX_BYTES)) {
    throw refuse(
      'ARCHIVE_PATH_INVALID',
      `a path has at most ${PATH_MAX_BYTES} bytes, a name ${NAME_MAX_BYTES}`,
    );
  }
  return path;
}

/** U+FFFD stands for bytes that are not UTF-8. */
function hasControl(path: string): boolean {
  for (let at = 0; at < path.length; at += 1) {
    const unit = path.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f || unit === 0xfffd) return true;
  }
  return false;
}

/**
 * The paths of an archive so far. Some file systems do not distinguish case or forms of Unicode, so
 * two names that differ in nothing else are refused.
 */
export class EntryPaths {
  /** The folded path to the path as it is. */
  readonly #byFold = new Map<string, string>();
  readonly #files = new Set<string>();
  /** Folders with an entry of their own. */
  readonly #folders = new Set<string>();

  /** Answers with the folders above that are new, outermost first. */
  add(path: string, kind: 'file' | 'folder'): string[] {
    const added: string[] = [];
    const names = path.split('/');
    for (let count = 1; count < names.length; count += 1) {
      const folder = names.slice(0, count).join('/');
      if (this.#files.has(folder)) {
        throw new ArtifactError('ARCHIVE_DUPLICATE', `${folder} is both a file and a folder`);
      }
      if (this.#place(folder)) added.push(folder);
    }
    const isNew = this.#place(path);
    const repeats = kind === 'file' ? !isNew : this.#files.has(path) || this.#folders.has(path);
    if (repeats) throw new ArtifactError('ARCHIVE_DUPLICATE', `${path} occurs twice`);
    if (kind === 'file') this.#files.add(path);
    else this.#folders.add(path);
    return kind === 'folder' && isNew ? [...added, path] : added;
  }

  get files(): ReadonlySet<string> {
    return this.#files;
  }

  #place(path: string): boolean {
    const fold = path.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
    const known = this.#byFold.get(fold);
    if (known === undefined) this.#byFold.set(fold, path);
    else if (known !== path) {
      throw new ArtifactError(
        'ARCHIVE_NAME_CLASH',
        `${path} and ${known} are the same name on some file systems`,
      );
    }
    return known === undefined;
  }
}
