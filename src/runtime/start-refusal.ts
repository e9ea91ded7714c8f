/** What the operator has to change before a start can work. */
export type RefusalKind = 'configuration' | 'definitions' | 'migration';

/**
 * A start that must not be retried, because it would fail again. The message is one line that says
 * what to do. All other failures of a start are retried; see `persist.ts`.
 */
export class StartRefusal extends Error {
  override name = 'StartRefusal';
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
