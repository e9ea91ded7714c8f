import { classify } from '../../core/failure/classify.ts';
import type { JobDefinition } from '../../core/definition/define.ts';

export interface Loaded {
  definitions: JobDefinition[];
  /** One message per file that could not be loaded, with its path. The others still run. */
  problems: string[];
}

/** The error and its position in the file, without the frames of the loader. */
export function firstLines(error: unknown): string {
  if (!(error instanceof Error))
    return `it threw a value that is not an Error: ${classify(error, 0).error.message}`;
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
