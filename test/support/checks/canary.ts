import { randomBytes } from 'node:crypto';
import type { TestDatabase } from '../servers/database.ts';

/**
 * Unique secrets, each with a name: a find shows which one leaked, and where. They are searched for
 * in plain form and in common encodings.
 */
export class Canaries {
  readonly #secrets = new Map<string, string>();

  /** A new one, of letters and digits only, so that no escaping changes it. */
  place(name: string): string {
    return this.know(name, `canary${randomBytes(12).toString('hex')}`);
  }

  /** One that was made elsewhere. */
  know(name: string, secret: string): string {
    this.#secrets.set(name, secret);
    return secret;
  }

  get names(): string[] {
    return [...this.#secrets.keys()];
  }

  /** The names of those that are in a text. */
  in(text: string): string[] {
    return this.names.filter((name) => {
      const secret = this.#secrets.get(name) ?? '';
      const bytes = Buffer.from(secret);
      const disguises = [secret, bytes.toString('base64'), bytes.toString('hex')];
      return disguises.some((one) => text.includes(one));
    });
  }

  /** Where each of them was found, by the name of the text; empty when none leaked. */
  foundIn(places: Iterable<readonly [string, string]>): Record<string, string[]> {
    const found = [...places].map(([place, text]) => [place, this.in(text)] as const);
    return Object.fromEntries(found.filter(([, names]) => names.length > 0));
  }
}

/** Everything that the database holds, as text, by table. */
export async function dumpOf({ sql }: TestDatabase): Promise<Map<string, string>> {
  const tables = await sql<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'longshore' and c.relkind = 'r' order by 1`,
  );
  const dump = new Map<string, string>();
  for (const { name } of tables) {
    const rows = await sql<{ row: string }>(`select t::text as row from longshore."${name}" t`);
    dump.set(name, rows.map(({ row }) => row).join('\n'));
  }
  return dump;
}
