/** One audit entry, as shown by the API, the SDK and the CLI. */
export interface AuditView {
  id: string;
  at: string;
  tenant: string;
  /**
   * Such as `key:1f0c… (ci)`, `session:1f0c… (ada)` (of that key), `user:ada@example.com (248289)`,
   * `anonymous (no keys)` or `cli`.
   */
  actor: string;
  action: string;
  /** The id of what it was done to. */
  subject: string;
  before: unknown;
  after: unknown;
  /** Where the request came from. */
  address: string | null;
}
