/** No worker has registered the definition of the request at this index, which requires one. */
export class NotRegistered extends Error {
  override name = 'NotRegistered';
  readonly index: number;

  constructor(index: number, detail: string) {
    super(detail);
    this.index = index;
  }
}
