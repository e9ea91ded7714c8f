import { StartRefusal } from '../runtime/start-refusal.ts';

/** A refusal that a person can act on: the message is one line and says what to do about it. */
export class EmbeddedPostgresError extends StartRefusal {
  override name = 'EmbeddedPostgresError';

  constructor(message: string, options?: ErrorOptions) {
    super('configuration', message, options);
  }
}

/** The `code` of a Node or PostgreSQL error, or undefined when it has none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
