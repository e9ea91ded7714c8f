import { StartRefusal } from '../runtime/start-refusal.ts';

/** A start that cannot work; the message is one line that says what to do. */
export class EmbeddedPostgresError extends StartRefusal {
  override name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    super('configuration', message, options);
  }
}

/** The `code` of a Node or PostgreSQL error; undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
