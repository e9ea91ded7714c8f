import { createHash } from 'node:crypto';
import { hookOwner } from '../../core/definition/hooks.ts';
import type { WorkerStore } from '../claim/port.ts';
import type { Accepted } from '../claim/work-queue.ts';

/** The secrets of a job. */
export interface Secrets {
  /** Values by name. */
  values: Readonly<Record<string, string>>;
  /** The same for the same names and values. */
  id: string;
}

type Read = Secrets | null | Promise<Secrets | null>;

/** The mark of a job whose queue was not read: its secrets are. */
export const UNKNOWN_SECRETS = '?';
const SETS_MAX = 1_000;

/**
 * The secrets of definitions, as a process with a database connection knows them. The mark of a
 * queue, which a worker reads with every poll, tells whether its jobs have secrets and whether they
 * are still the same: without secrets nothing is read, and otherwise once per change.
 */
export class SecretCache {
  readonly #store: Pick<WorkerStore, 'readSecrets'>;
  readonly #known = new Map<string, { mark: string; secrets: Read }>();

  constructor(store: Pick<WorkerStore, 'readSecrets'>) {
    this.#store = store;
  }

  /** Throws `CannotOpen`. */
  of({ secretsMark: mark, tenant, definition }: Omit<Accepted, 'job'>): Read {
    if (mark === null) return null;
    const key = hookOwner(definition.key) ?? definition.key;
    if (mark === UNKNOWN_SECRETS) return this.#read(tenant, key);
    const name = `${tenant}\n${key}`;
    const known = this.#known.get(name);
    if (known?.mark === mark) return known.secrets;
    const secrets = this.#read(tenant, key);
    const entry: { mark: string; secrets: Read } = { mark, secrets };
    if (this.#known.size >= SETS_MAX) this.#known.clear();
    this.#known.set(name, entry);
    secrets.then(
      (read) => (entry.secrets = read),
      () => this.#known.delete(name),
    );
    return secrets;
  }

  async #read(tenant: string, key: string): Promise<Secrets | null> {
    const values = await this.#store.readSecrets(tenant, key);
    return Object.keys(values).length === 0 ? null : secretsFrom(values);
  }
}

export function secretsFrom(values: Readonly<Record<string, string>>): Secrets {
  const sorted = Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
  const id = createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
  return { values: Object.freeze({ ...values }), id };
}

/**
 * The owner of a runner. A process may keep what it was given, so one that has run a job with
 * secrets runs only jobs with the same ones, and one that has run a job without runs only such
 * jobs. No tenant has a space in its name.
 */
export function ownerOf(tenant: string, secrets: Secrets | null): string {
  return secrets === null ? tenant : `${tenant} ${secrets.id}`;
}
