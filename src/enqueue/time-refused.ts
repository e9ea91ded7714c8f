/** A time of the request at this index does not fit the clock of the server. */
export class TimeRefused extends Error {
  override name = 'TimeRefused';
  readonly index: number;
  readonly field: 'expiresAt' | 'requestId';

  constructor(index: number, field: TimeRefused['field'], detail: string) {
    super(detail);
    this.index = index;
    this.field = field;
  }
}
