import { availableParallelism } from 'node:os';
import type { JobDefinition } from '../core/define.ts';
import type { DefinitionInfo, Isolation } from '../core/definition.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { InlineRunners } from './inline-runner.ts';
import { ProcessPool } from './process-pool.ts';
import type { RunnerReport, RunnerSource } from './runner.ts';
import { loadDefinitions } from './runner/load.ts';
import type { Watchdog } from './watchdog.ts';

export interface RunnersOptions {
  /** A file or folder of definitions, or definitions that are at hand (these run inline only). */
  jobs: string | readonly JobDefinition[];
  slots: number;
  watchdog: Watchdog;
  clock: Clock;
  log: Log;
}

/** One source of runners per isolation mode, made as the definitions need them. */
export class Runners implements Service {
  readonly name = 'runners';
  readonly #options: RunnersOptions;
  readonly #sources = new Map<Isolation, RunnerSource>();
  #pools: ProcessPool[] = [];
  #report: RunnerReport = { definitions: [], problems: [] };

  constructor(options: RunnersOptions) {
    this.#options = options;
  }

  get report(): RunnerReport {
    return this.#report;
  }

  source({ isolation }: DefinitionInfo): RunnerSource {
    const source = this.#sources.get(isolation);
    if (!source) throw new Error(`no runners of kind ${isolation}`);
    return source;
  }

  async start(): Promise<void> {
    const { jobs, clock } = this.#options;
    if (typeof jobs !== 'string') {
      this.#sources.set('inline', new InlineRunners(jobs, clock));
      this.#report = reportOf(jobs);
      return;
    }
    const warm = await this.#pool(jobs, 'process');
    this.#report = await warm.report();
    const kinds = new Set(this.#report.definitions.map(({ isolation }) => isolation));
    if (kinds.has('fresh')) (await this.#pool(jobs, 'fresh')).warm();
    // Only definitions that opted in bring user code into this process.
    if (kinds.has('inline')) {
      const { definitions } = await loadDefinitions(jobs);
      this.#sources.set('inline', new InlineRunners(definitions, clock));
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pools.map(async (pool) => await pool.stop()));
    this.#pools = [];
    this.#sources.clear();
  }

  async #pool(jobsPath: string, kind: 'process' | 'fresh'): Promise<ProcessPool> {
    const { slots, watchdog, log } = this.#options;
    const reuse = kind === 'process';
    const spares = reuse ? 1 : Math.min(slots, 2 * availableParallelism());
    const pool = new ProcessPool({ jobsPath, size: slots, reuse, spares, watchdog, log });
    await pool.start();
    this.#pools.push(pool);
    this.#sources.set(kind, pool);
    return pool;
  }
}

/** Definitions that came as values have no file to load in another process. */
function reportOf(jobs: readonly JobDefinition[]): RunnerReport {
  const inline = jobs.filter(({ info }) => info.isolation === 'inline');
  const others = jobs.filter(({ info }) => info.isolation !== 'inline');
  return {
    definitions: inline.map(({ info }) => info),
    problems: others.map(
      ({ key }) => `${key}: needs isolation 'inline', or give its file as the path of the jobs`,
    ),
  };
}
