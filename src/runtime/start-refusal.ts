/** What a person has to change before a start can work. */
export type RefusalKind = 'configuration' | 'definitions' | 'migration';

/**
 * Why a start ends for good: the next one would end in the same way. The message is one line that says
 * what to do. Every other failure of a start is tried again; see `persist.ts`.
 */
export class StartRefusal extends Error {
  override name = 'StartRefusal';
  readonly kind: RefusalKind;

  constructor(kind: RefusalKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
