import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The import URL of the file that registers an SDK. */
export function tracingUrl(file: string): string {
  return pathToFileURL(resolve(file)).href;
}

/**
 * Imports the operator's file that registers an OpenTelemetry SDK. Job processes import it
 * themselves, before anything else.
 */
export async function loadTracing(file: string | null): Promise<void> {
  if (file === null) return;
  try {
    await import(tracingUrl(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `LONGSHORE_TRACING: ${file} cannot be imported (${reason}): name a file that registers an SDK`,
      { cause: error },
    );
  }
}
