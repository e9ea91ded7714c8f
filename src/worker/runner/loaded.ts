import { classify } from '../../core/failure/classify.ts';
import type { JobDefinition } from '../../core/definition/define.ts';
import { importRemedy } from './load/import-remedy.ts';

export interface Loaded {
  definitions: JobDefinition[];
  /** One message per file that could not be loaded, with its path. The others still run. */
  problems: string[];
  /** The file of each definition of a folder, by its name like `image.resize@1`. */
  files?: ReadonlyMap<string, string>;
}

/** The error and its position in the file, without the frames of the loader. */
export function firstLines(error: unknown): string {
  if (!(error instanceof Error))
    return `it threw a value that is not an Error: ${classify(error, 0).error.message}`;
  const denied = unreadable(error);
  if (denied !== null) return denied;
  const remedy = importRemedy(error);
  if (remedy !== null) return remedy;
  const missing = /^Cannot find package '([^']+)'/.exec(error.message)?.[1];
  if (missing !== undefined) {
    return `it imports ${missing}, which is not installed there: run npm install ${missing} beside it`;
  }
  const location = /^(.*:\d+)\n/.exec(error.stack ?? '')?.[1];
  const summary = `${error.name}: ${error.message.split('\n')[0]}`;
  return location?.includes('file:')
    ? `${summary} (${location.replace(/^file:\/\//, '')})`
    : summary;
}

/** The processes of jobs may have a user of their own, who cannot read what the server can. */
export function unreadable(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EACCES') return null;
  const path = /'([^']+)'$/.exec(error.message)?.[1] ?? 'it';
  return (
    `the user of the process that runs jobs may not read ${path}: ` +
    `run chmod -R a+rX on the project, and chmod a+x on the folders above it`
  );
}
