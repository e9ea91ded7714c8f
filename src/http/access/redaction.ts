import type { FastifyRequest } from 'fastify';
import type { DeadLetterGroup } from '../../core/failure/dead-letter.ts';
import { shownTexts } from '../../core/failure/failure-words.ts';
import { hookOwner } from '../../core/definition/hooks.ts';
import type { JobView } from '../../core/job/job.ts';
import { REDACTED, Redactor } from '../../core/access/redact.ts';
import { redactAttempt, redactJob, redactSchedule } from '../../core/access/redact-views.ts';
import { searchOf } from '../../core/search/search.ts';
import type { ScheduleView } from '../../core/schedule/schedule.ts';
import { mayDo } from '../../core/access/scope.ts';
import type { AttemptView, DefinitionLogView } from '../../core/views/history.ts';
import { WEBHOOK_KEY } from '../../core/webhook/webhook.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';
import { inSlices } from '../../runtime/slices.ts';
import { audit } from '../../store/access/audit.ts';
import type { Db } from '../../store/connection/db.ts';
import { getJob } from '../../store/read/get-job.ts';
import { viewAll } from '../../store/read/view-page.ts';
import { readRedactPaths } from '../../store/read/redact-paths.ts';
import { actorOf, callerOf, scopeMissing } from './caller.ts';
import { FreshAnswers } from './fresh-answers.ts';
import { noSuchJob } from '../cursors/job-path.ts';

const FRESH_MS = 1_000;
/** Jobs whose secrets a stream remembers. */
const KNOWN_MAX = 1_000;

/** A request that may have `?reveal`. */
type Asked = FastifyRequest<{ Querystring: { reveal?: 'true' | 'false' | undefined } }>;

/** Redacts secrets in responses, unless the caller may reveal them and asks to. */
export class Redaction {
  readonly #db: Db;
  readonly #paths: FreshAnswers<Paths>;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#paths = new FreshAnswers(clock, FRESH_MS);
  }

  async job(job: JobView): Promise<JobView> {
    return redactJob(job, await this.#redactor(job.definitionKey, job.params));
  }

  async attempts(job: JobView, attempts: readonly AttemptView[]): Promise<AttemptView[]> {
    const redactor = await this.#redactor(job.definitionKey, job.params);
    return attempts.map((attempt) => redactAttempt(attempt, redactor));
  }

  async jobs(jobs: readonly JobView[]): Promise<JobView[]> {
    const paths = await this.#allPaths();
    const redacted = function* () {
      const shown: JobView[] = [];
      for (const job of jobs) {
        shown.push(redactJob(job, redactorOf(paths, job.definitionKey, job.params)));
        yield;
      }
      return shown;
    };
    return await inSlices(redacted());
  }

  /** Redacts history entries, which may be long. */
  async entries<Entry>(
    entries: readonly Entry[],
    redactor: Redactor | null,
    redact: (entry: Entry, redactor: Redactor) => Entry,
  ): Promise<readonly Entry[]> {
    if (redactor === null) return entries;
    const redacted = function* () {
      const shown: Entry[] = [];
      for (const entry of entries) {
        shown.push(redact(entry, redactor));
        yield;
      }
      return shown;
    };
    return await inSlices(redacted());
  }

  /**
   * Redacts jobs found by a text search. A job that matches only by a secret is left out; otherwise
   * a caller could guess secrets by searching.
   */
  async found<Job extends JobView>(
    request: FastifyRequest,
    jobs: readonly Job[],
    q: string | undefined,
  ): Promise<JobView[]> {
    const shown = await this.jobs(jobs);
    const { words } = searchOf(q ?? null);
    if (words.length === 0 || mayDo(callerOf(request).scopes, 'jobs:reveal')) return shown;
    return shown.filter(
      (job, index) =>
        hidesNothing(job, jobs[index]) || words.every(({ text }) => mentions(job, text)),
    );
  }

  /**
   * Message and cause of a group are those of its newest job, which may contain secrets from its params.
   */
  async groups(tenant: string, groups: readonly DeadLetterGroup[]): Promise<DeadLetterGroup[]> {
    const newest = await viewAll(
      this.#db,
      tenant,
      groups.map(({ jobId }) => jobId),
    );
    const jobs = new Map(newest.map((job) => [job.jobId, job]));
    return await Promise.all(
      groups.map(async (group) => {
        const job = jobs.get(group.jobId);
        // The job was just deleted; without its params the secrets are unknown.
        if (!job) return { ...group, message: REDACTED, cause: group.cause && REDACTED };
        const redactor = await this.#redactor(job.definitionKey, job.params);
        const cause = group.cause === null ? null : redactor.text(group.cause);
        return { ...group, message: redactor.text(group.message), cause };
      }),
    );
  }

  /** Redacts lines of several jobs. `known` keeps what is known of a job between calls. */
  async lines(
    tenant: string,
    lines: readonly DefinitionLogView[],
    known: Map<string, Redactor | null>,
  ): Promise<readonly DefinitionLogView[]> {
    if (known.size > KNOWN_MAX) known.clear();
    const jobIds = [...new Set(lines.map(({ jobId }) => jobId))];
    const unknown = jobIds.filter((jobId) => !known.has(jobId));
    for (const job of await viewAll(this.#db, tenant, unknown)) {
      known.set(job.jobId, await this.#redactor(job.definitionKey, job.params));
    }
    return lines.map((line) => {
      const redactor = known.get(line.jobId);
      return { ...line, message: redactor ? redactor.text(line.message) : REDACTED };
    });
  }

  async schedule(schedule: ScheduleView): Promise<ScheduleView> {
    return redactSchedule(schedule, await this.#redactor(schedule.definitionKey));
  }

  /** Redactor for a job's history; null if the caller reveals it. */
  async ofHistory(request: Asked, jobId: string): Promise<Redactor | null> {
    const revealed = this.wantsAll(request);
    const { tenant } = callerOf(request);
    const job = (await getJob(this.#db, tenant, jobId)) ?? noSuchJob(jobId);
    if (!revealed) return await this.#redactor(job.definitionKey, job.params);
    await this.writeDown(request, 'job.reveal', jobId);
    return null;
  }

  /** Whether the caller asks to reveal secrets. Throws without the scope. */
  wantsAll(request: Asked): boolean {
    if (request.query.reveal !== 'true') return false;
    const caller = callerOf(request);
    if (mayDo(caller.scopes, 'jobs:reveal')) return true;
    throw new Refusal('FORBIDDEN', scopeMissing(caller, 'jobs:reveal'));
  }

  /** Writes the audit entry before anything is revealed. */
  async writeDown(request: FastifyRequest, action: string, subject: string): Promise<void> {
    const { tenant } = callerOf(request);
    await audit(this.#db, actorOf(request), { tenant, action, subject });
  }

  async #redactor(definitionKey: string, params?: unknown): Promise<Redactor> {
    return redactorOf(await this.#allPaths(), definitionKey, params);
  }

  async #allPaths(): Promise<Paths> {
    return await this.#paths.get('paths', async () => readRedactPaths(this.#db));
  }
}

type Paths = ReadonlyMap<string, readonly string[]>;

function redactorOf(paths: Paths, definitionKey: string, params: unknown): Redactor {
  // The job data in a delivery is redacted when it is sent, not before.
  if (definitionKey === WEBHOOK_KEY) return new Redactor(['error'], params);
  // Hook jobs contain data of their owner's jobs.
  return new Redactor(paths.get(hookOwner(definitionKey) ?? definitionKey), params);
}

function hidesNothing(shown: JobView, job: JobView | undefined): boolean {
  const texts = (one: JobView | undefined) => (one?.error ? shownTexts(one.error).join('\n') : '');
  return shown.params === job?.params && texts(shown) === texts(job);
}

function mentions({ params, error, definitionKey, tags, jobId }: JobView, word: string): boolean {
  const own = [definitionKey, jobId, jobId.replaceAll('-', ''), ...tags];
  const texts = [JSON.stringify(params), ...(error ? shownTexts(error) : []), ...own];
  return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()));
}
