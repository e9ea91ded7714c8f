/**
 * The author of a change as it is stored: `key:1f0c… (ci)`, `session:1f0c… (ada)` of a browser that
 * signed in with that key, `user:ada@example.com (248289)`, `anonymous (no keys)` or `cli`. The id
 * identifies a key; its name is for people.
 */
export function keyActor(kind: 'key' | 'session', keyId: string, name: string | null): string {
  return name ? `${kind}:${keyId} (${name})` : `${kind}:${keyId}`;
}

/** Any caller of a server without keys. */
export const ANONYMOUS = 'anonymous (no keys)';

const OF_KEY = /^(key|session):([0-9a-f]{16}) \((.+)\)$/s;
const ID_SHOWN = 4;

/** The author of a change, for people. */
export function actorWords(actor: string): string {
  const [, kind, id, name] = OF_KEY.exec(actor) ?? [];
  if (!kind || !id || !name) return actor;
  return `${name} (key ${id.slice(0, ID_SHOWN)}…${kind === 'session' ? ', browser session' : ''})`;
}
