/** Name of an actor. A server without keys does not know the user. */
export function actorWords(actor: string): string {
  return actor === 'open' ? 'anonymous (no keys)' : actor;
}
