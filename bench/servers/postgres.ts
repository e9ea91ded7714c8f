import pg from 'pg';
import { EmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { silentLog } from '../../src/runtime/log.ts';
import { cpuSecondsOf } from './processes.ts';
import type { Store } from './store.ts';

export interface Database extends Store {
  /** A connection of the harness's own. */
  client: pg.Client;
  /** Another one, which the caller ends. */
  connect(): Promise<AsyncDisposable & { client: pg.Client }>;
}

/**
 * The PostgreSQL of a run: durable, with PostgreSQL's defaults except for larger buffers, so it is
 * tuned for no system. Each measurement gets its own database, cloned from a template with the empty
 * tables of its system.
 */
export class Postgres {
  readonly #embedded: EmbeddedPostgres;
  readonly #templates = new Map<string, Promise<string>>();
  #admin: pg.Client | undefined;
  #made = 0;

  constructor(folder: string) {
    this.#embedded = new EmbeddedPostgres({
      loopback: true,
      dataDir: folder,
      log: silentLog,
      extraSettings: { shared_buffers: '256MB', autovacuum_naptime: '1min' },
      extraGrants: ['grant pg_checkpoint to longshore'],
    });
  }

  async start(): Promise<void> {
    await this.#embedded.start();
    this.#admin = await connect(this.#embedded.url);
  }

  async stop(): Promise<void> {
    await this.#admin?.end().catch(() => undefined);
    await this.#embedded.stop();
  }

  /** For the last moment of the process, when nothing can be waited for. */
  kill(): void {
    const { pid } = this.#embedded;
    if (pid !== undefined) process.kill(pid, 'SIGQUIT');
  }

  async version(): Promise<string> {
    const { rows } = await this.#query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? '?';
  }

  /** A clone of the template of that name, which is made the first time it is asked for. */
  async clone(
    template: string,
    fill: (url: string) => Promise<void>,
    unfinished: readonly string[],
  ): Promise<Database> {
    let made = this.#templates.get(template);
    if (!made) {
      made = this.#makeTemplate(template, fill);
      this.#templates.set(template, made);
    }
    const source = await made;
    const name = `bench_${++this.#made}`;
    await this.#query(`create database ${name} template ${source} strategy file_copy`);
    const url = this.#urlOf(name);
    const client = await connect(url);
    await client.query('checkpoint');
    return {
      url,
      client,
      connect: async () => {
        const another = await connect(url);
        return { client: another, [Symbol.asyncDispose]: async () => await another.end() };
      },
      unfinished: async () => Number(await ask(client, countOf(unfinished))),
      isDrained: async () => (await ask(client, emptinessOf(unfinished))) === true,
      cpuSeconds: () => cpuSecondsOf(this.#embedded.pid ?? 0),
      [Symbol.asyncDispose]: async () => {
        await client.end().catch(() => undefined);
        await this.#drop(name);
      },
    };
  }

  async #makeTemplate(template: string, fill: (url: string) => Promise<void>): Promise<string> {
    const name = `template_${template.replaceAll('-', '_')}`;
    await this.#query(`create database ${name}`);
    await fill(this.#urlOf(name));
    // What is still connected would forbid the cloning.
    await this.#query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    );
    return name;
  }

  /** By force, which an autovacuum worker in the database forbids; without force, it is ended. */
  async #drop(name: string): Promise<void> {
    const drop = `drop database if exists ${name}`;
    await this.#query(`${drop} with (force)`).catch(async () => await this.#query(drop));
  }

  #urlOf(database: string): string {
    const url = new URL(this.#embedded.url);
    url.pathname = `/${database}`;
    return url.href;
  }

  async #query<Row extends pg.QueryResultRow>(sql: string): Promise<pg.QueryResult<Row>> {
    if (!this.#admin) throw new Error('PostgreSQL has not been started');
    return await this.#admin.query<Row>(sql);
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function countOf(tables: readonly string[]): string {
  return `select ${tables.map((table) => `(select count(*) from ${table})`).join(' + ')} as value`;
}

function emptinessOf(tables: readonly string[]): string {
  const parts = tables.map((table) => `not exists (select from ${table})`);
  return `select ${parts.join(' and ')} as value`;
}

async function ask(client: pg.Client, sql: string): Promise<unknown> {
  const { rows } = await client.query<{ value: unknown }>(sql);
  return rows[0]?.value;
}
