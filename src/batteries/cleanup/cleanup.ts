import { z } from 'zod';
import { defineJob, type JobContext, NonRetryable } from '../../core/definition/define.ts';
import { GuardedPost } from '../guarded-post.ts';
import { named, oneNameOf, type ReadyJobOptions } from '../ready-job.ts';
import { onDatabase } from './application-database.ts';
import type { Cache } from './caches.ts';
import { erase, type ErasureCertificate, type PersonTables } from './erasure.ts';
import { countExpired, retain, type RetentionResult, type RetentionRule } from './retention.ts';

export interface CleanupOptions extends ReadyJobOptions {
  /** The environment variable with the URL of your database. */
  database?: string | undefined;
  /** By name. Only tables that are named here can be changed. */
  rules?: Readonly<Record<string, RetentionRule>> | undefined;
  persons?: Readonly<Record<string, PersonTables>> | undefined;
  caches?: Readonly<Record<string, Cache>> | undefined;
  /** Rows in one transaction. Default 1,000. */
  batch?: number | undefined;
  /** Between transactions. Default 100 ms. */
  pauseMs?: number | undefined;
  /** How long one statement may take. Default 60 s. */
  statementMs?: number | undefined;
  /** Where rows of rules with `archive` are stored: a folder, or `s3://bucket/prefix`. */
  archiveTo?: string | undefined;
  /** Private networks that caches may be in, such as '10.1.0.0/16'. */
  allow?: readonly string[] | undefined;
}

const ACTIONS = {
  retention: ['rules', 'dryRun'],
  erase: ['person', 'id', 'dryRun'],
  purge: ['cache', 'what'],
} as const;
const OPTIONAL: readonly string[] = ['rules', 'dryRun'];

/** One object for all actions, so that the dashboard has a form for it. */
const paramsOf = ({ rules = {}, persons = {}, caches = {} }: CleanupOptions) =>
  z
    .strictObject({
      action: z.enum(['retention', 'erase', 'purge']),
      rules: z
        .array(oneNameOf('rule', rules))
        .min(1)
        .optional()
        .meta({ description: 'For retention. Default: all rules.' }),
      person: oneNameOf('person', persons).optional().meta({ description: 'For erase.' }),
      id: z.string().min(1).max(500).optional().meta({ description: 'For erase: the person.' }),
      cache: oneNameOf('cache', caches).optional().meta({ description: 'For purge.' }),
      what: z
        .array(z.string().min(1).max(2_000))
        .min(1)
        .max(1_000)
        .optional()
        .meta({ description: 'For purge: paths or patterns.' }),
      dryRun: z.boolean().optional().meta({ description: 'Count, and change nothing.' }),
    })
    .superRefine((params, context) => {
      const fields: readonly string[] = ACTIONS[params.action];
      const given = Object.keys(params).filter((name) => name !== 'action');
      const missing = fields.filter((name) => !OPTIONAL.includes(name) && !given.includes(name));
      for (const name of missing)
        context.addIssue({ code: 'custom', path: [name], message: 'is required' });
      for (const name of given.filter((one) => !fields.includes(one))) {
        const message = `is not a field of the action ${params.action}`;
        context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .meta({ examples: [{ action: 'retention', dryRun: true }] });

export type CleanupParams = z.input<ReturnType<typeof paramsOf>>;
type Parsed = z.output<ReturnType<typeof paramsOf>>;

export type CleanupResult =
  | { action: 'retention'; dryRun: boolean; rules: Record<string, RetentionResult> }
  | { action: 'erase'; dryRun: boolean; certificate: ErasureCertificate }
  | { action: 'purge'; purged: number };

/** Deletes old rows, erases persons, and removes entries of caches. */
export function cleanup(options: CleanupOptions) {
  const { database, rules = {}, persons = {}, caches = {}, archiveTo, allow, ...rest } = options;
  const { batch = 1_000, pauseMs = 100, statementMs = 60_000, ...policy } = rest;
  const archives = Object.entries(rules).find(([, rule]) => rule.archive);
  if (archives && archiveTo === undefined) {
    throw new TypeError(`cleanup: the rule ${archives[0]} has archive, which needs archiveTo`);
  }
  const onOwn = async <T>(work: Parameters<typeof onDatabase<T>>[2]) => {
    if (database === undefined) throw new NonRetryable('cleanup has no database: set the option');
    return await onDatabase(database, statementMs, work);
  };

  const retention = async (params: Parsed, ctx: JobContext) => {
    const names = params.rules ?? Object.keys(rules);
    for (const name of names) named('rule', name, rules);
    const settings = { rules, batch, pauseMs, archiveTo };
    return await onOwn(async (client) =>
      params.dryRun
        ? await countExpired(client, names, ctx, rules)
        : await retain(client, names, ctx, settings),
    );
  };

  const purge = async ({ cache = '', what = [] }: Parsed, ctx: JobContext) => {
    const found = named('cache', cache, caches);
    const post = new GuardedPost(allow);
    let purged = 0;
    for (const [index, one] of what.entries()) {
      const onProgress = (so: number) => {
        ctx.heartbeat();
        ctx.progress(index / what.length, `${purged + so} entries removed`);
      };
      purged += await found.purge(one, { post, signal: ctx.abortSignal, onProgress });
    }
    return purged;
  };

  return defineJob({
    key: 'cleanup',
    description: 'Deletes old rows, erases persons, and removes entries of caches.',
    retry: 'cleanup',
    // An id of a person belongs in no list of jobs.
    redact: ['id'],
    ...policy,
    params: paramsOf(options),
    run: async (params, ctx): Promise<CleanupResult> => {
      const { action } = params;
      if (action === 'retention') {
        return { action, dryRun: params.dryRun ?? false, rules: await retention(params, ctx) };
      }
      if (action === 'purge') return { action, purged: await purge(params, ctx) };
      const { person = '', id = '', dryRun: dry = false } = params;
      const tables = named('person', person, persons);
      // Stored once: a repeated attempt would find nothing, and certify that.
      const certificate = await ctx.step(
        'erase',
        async () => await onOwn(async (client) => await erase(client, person, id, tables, dry)),
      );
      return { action, dryRun: dry, certificate };
    },
  });
}
