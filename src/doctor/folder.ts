import { type Check, ok, problem, warning } from './check.ts';

export interface FolderFacts {
  path: string;
  /** Node error code if it cannot be used, else null. */
  trouble: string | null;
  /** Null if the file system does not report it. */
  freeBytes: number | null;
}

const GIGABYTE = 2 ** 30;
const LITTLE_BYTES = GIGABYTE;
const TOO_LITTLE_BYTES = GIGABYTE / 16;

const SETTING = { 'data-folder': 'LONGSHORE_DATA', 'temp-folder': 'TMPDIR' } as const;

export function judgeFolder(name: keyof typeof SETTING, facts: FolderFacts): Check {
  const { path, trouble, freeBytes } = facts;
  const setting = SETTING[name];
  if (trouble !== null) {
    const fix = `give the user of the server write access, or set ${setting} to another folder`;
    return problem(name, `${path} is not writable (${trouble})`, fix);
  }
  if (freeBytes === null) return ok(name, path);
  const detail = `${path}, ${(freeBytes / GIGABYTE).toFixed(1)} GB free`;
  if (freeBytes >= LITTLE_BYTES) return ok(name, detail);
  const judge = freeBytes < TOO_LITTLE_BYTES ? problem : warning;
  return judge(name, detail, `free disk space, or set ${setting} to a folder on another disk`);
}
