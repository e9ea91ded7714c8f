/** The command line asks for something that cannot be done; the message is one clear line. */
export class UsageError extends Error {
  override name = 'UsageError';
}
