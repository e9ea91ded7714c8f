import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Client } from 'pg';
import type { ArtifactStorage } from '../../artifacts/storage.ts';
import { openStorage } from '../../artifacts/open-storage.ts';
import type { JobContext } from '../../core/definition/define.ts';
import { DAY_MS } from '../../core/values/duration.ts';
import { sleep } from '../../runtime/deadline.ts';
import { inTransaction, quoted } from './application-database.ts';

/** Rows that are older than `keepDays` are deleted. */
export interface RetentionRule {
  /** `sessions`, or `shop.sessions`. */
  table: string;
  /** A time: rows are older than this says. */
  column: string;
  keepDays: number;
  /** SQL that rows must fulfil besides, such as `state = 'ended'`. */
  where?: string | undefined;
  /** A unique column. Default `id`. */
  key?: string | undefined;
  /** Store rows before they are deleted. */
  archive?: boolean | undefined;
}

export interface RetentionOptions {
  rules: Readonly<Record<string, RetentionRule>>;
  batch: number;
  pauseMs: number;
  /** Where archives go: a folder, or `s3://bucket/prefix`. */
  archiveTo: string | undefined;
}

export interface RetentionResult {
  olderThan: string;
  rows: number;
  /** For a dry run: there may be more rows. */
  more?: true;
  /** The names of archives in the storage: gzip, one row of JSON in each line. */
  archives: string[];
}

/** A dry run counts up to here, so that it ends. */
const COUNTED_MAX = 1_000_000;

/**
 * Deletes in batches with pauses, so that locks are short and replicas keep up. After a crash, the
 * next attempt goes on with the same limits of age; a batch that was deleted just before the crash
 * may be missing in the numbers.
 */
export async function retain(
  client: Client,
  names: readonly string[],
  ctx: JobContext,
  options: RetentionOptions,
): Promise<Record<string, RetentionResult>> {
  const { rules, archiveTo } = options;
  const results = resultsOf(ctx.lastCheckpoint);
  const storage = archiveTo === undefined ? null : await openStorage(archiveTo);
  try {
    for (const name of names) {
      const rule = rules[name];
      if (!rule) continue;
      const olderThan = await limitOf(name, rule, ctx, client);
      const done = (results[name] ??= { olderThan, rows: 0, archives: [] });
      for (let rows = options.batch; rows === options.batch;) {
        ctx.abortSignal.throwIfAborted();
        rows = await deleteBatch(client, rule, done, options.batch, rule.archive ? storage : null);
        ctx.heartbeat();
        await ctx.checkpoint(results);
        ctx.progress(names.indexOf(name) / names.length, `${name}: ${done.rows} rows deleted`);
        if (rows === options.batch) await sleep(options.pauseMs, ctx.abortSignal);
      }
    }
    return results;
  } finally {
    storage?.close();
  }
}

/** What `retain` would delete now. */
export async function countExpired(
  client: Client,
  names: readonly string[],
  ctx: JobContext,
  rules: RetentionOptions['rules'],
): Promise<Record<string, RetentionResult>> {
  const results: Record<string, RetentionResult> = {};
  for (const name of names) {
    const rule = rules[name];
    if (!rule) continue;
    const olderThan = await limitOf(name, rule, ctx, client);
    const { rows: found } = await client.query<{ rows: number }>(
      `select count(*)::int as rows from (
         select from ${quoted(rule.table)} where ${expired(rule)} limit ${COUNTED_MAX}) found`,
      [olderThan],
    );
    const rows = found[0]?.rows ?? 0;
    results[name] = { olderThan, rows, archives: [], ...(rows === COUNTED_MAX && { more: true }) };
  }
  return results;
}

/** By the clock of the database, and the same in every attempt. */
async function limitOf(
  name: string,
  { keepDays }: RetentionRule,
  ctx: JobContext,
  client: Client,
): Promise<string> {
  return await ctx.step(`limit of ${name}`, async () => {
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now');
    return new Date((rows[0]?.now.getTime() ?? 0) - keepDays * DAY_MS).toISOString();
  });
}

async function deleteBatch(
  client: Client,
  rule: RetentionRule,
  done: RetentionResult,
  batch: number,
  storage: ArtifactStorage | null,
): Promise<number> {
  const [table, key] = [quoted(rule.table), quoted(rule.key ?? 'id')];
  const returned = storage ? 'to_jsonb(t.*)::text' : 'null';
  const deleted = await inTransaction(client, async () => {
    const { rows } = await client.query<{ row: string }>(
      `delete from ${table} t where t.${key} in (
         select ${key} from ${table} where ${expired(rule)}
         order by ${quoted(rule.column)} limit ${batch} for update skip locked)
       returning ${returned} as row`,
      [done.olderThan],
    );
    // Stored before the commit: rows are never deleted without their archive.
    if (storage && rows.length > 0) done.archives.push(await archive(storage, rows));
    return rows.length;
  });
  done.rows += deleted;
  return deleted;
}

function expired({ column, where }: RetentionRule): string {
  return `${quoted(column)} < $1${where === undefined ? '' : ` and (${where})`}`;
}

async function archive(
  storage: ArtifactStorage,
  rows: readonly { row: string }[],
): Promise<string> {
  const lines = rows.map(({ row }) => `${row}\n`).join('');
  const bytes = await promisify(gzip)(lines);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await storage.put(sha256, bytes.length, chunks(bytes));
  return sha256;
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function resultsOf(checkpoint: unknown): Record<string, RetentionResult> {
  return (checkpoint ?? {}) as Record<string, RetentionResult>;
}
