/** An actor of the audit log. On a server without keys, all that is known is that someone called. */
export function actorWords(actor: string): string {
  return actor === 'open' ? 'a user (no sign-in configured)' : actor;
}
