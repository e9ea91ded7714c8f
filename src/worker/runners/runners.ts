import { availableParallelism } from 'node:os';
import type { JobDefinition } from '../../core/definition/define.ts';
import { type DefinitionInfo, RUNNER_MEMORY_MB } from '../../core/definition/definition.ts';
import { builtModules } from '../../runtime/code.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Service } from '../../runtime/service.ts';
import { Capacity } from './capacity.ts';
import { CommandRunners } from './command-runners.ts';
import { InlineRunners } from './inline-runner.ts';
import {
  Sandboxes,
  type SandboxesOptions,
  type SandboxesSettings,
} from '../isolation/sandboxes.ts';
import { ProcessRunner, type ProcessRunnerOptions } from './process-runner.ts';
import type { RunnerReport, RunnerSource, SpawnedRunner } from './runner.ts';
import { RunnerPool } from './runner-pool.ts';
import type { DeploymentPlan, LoadPlan } from '../ipc.ts';
import { loadDefinitions } from '../runner/load.ts';
import { ThreadRunner } from './thread-runner.ts';
import type { Watchdog } from '../watchdog.ts';

export interface RunnerSettings extends SandboxesSettings {
  /** How many jobs a warm process or thread runs before it is replaced. */
  runnerMaxJobs: number;
  /** A file that job processes import first; see `signals/load-tracing.ts`. */
  tracing?: string | null;
  /** The default for definitions without a memory limit; 0 means no limit. */
  runnerMemoryMb: number;
  /** Whether jobs may run inside the worker although jobs have users of their own. */
  inlineJobs: 'own-user' | 'always';
}

const DEFAULT_RUNNER_SETTINGS: RunnerSettings = {
  runnerMaxJobs: 1_000,
  runnerEnv: null,
  runnerUids: 'none',
  runnerMemoryMb: RUNNER_MEMORY_MB,
  inlineJobs: 'own-user',
};

export interface RunnersOptions
  extends Partial<RunnerSettings>, Pick<SandboxesOptions, 'controlGroups'> {
  /** A file or folder of definitions, or a list of definitions (these run inline only). */
  jobs: string | readonly JobDefinition[];
  /** Of a deployment, whose folder is `jobs`. */
  deployment?: DeploymentPlan;
  /** The runners of this worker that others share their sandboxes and their capacity with. */
  main?: Runners;
  /** Starts the sandboxes also for a list of definitions, because others share them. */
  shares?: boolean;
  slots: number;
  watchdog: Watchdog;
  clock: Clock;
  log: Log;
}

type Kind = Pick<DefinitionInfo, 'isolation' | 'memoryMb'>;

const INSIDE: readonly string[] = ['thread', 'inline'];

/** The default kind of a definition. */
const ORDINARY = (defaultMb: number): Kind => ({
  isolation: 'process',
  memoryMb: defaultMb || null,
});

/** One source of runners per kind (an isolation with a memory limit), made when it is needed. */
export class Runners implements Service {
  readonly name = 'runners';
  readonly #options: RunnersOptions & RunnerSettings;
  readonly #room: Sandboxes;
  readonly #main: Runners | null;
  readonly #sources = new Map<string, RunnerSource>();
  readonly #sourceOf = new Map<DefinitionInfo, RunnerSource>();
  readonly #services: Service[] = [];
  #capacity = new Capacity(0);
  #report: RunnerReport = { definitions: [], problems: [] };
  #plan: LoadPlan = { files: null, modules: {} };

  constructor(options: RunnersOptions) {
    this.#options = { ...DEFAULT_RUNNER_SETTINGS, ...options };
    const { jobs, main = null } = this.#options;
    this.#main = main;
    this.#room = main
      ? main.#room
      : new Sandboxes({ ...this.#options, jobs: typeof jobs === 'string' ? jobs : '.' });
  }

  get report(): RunnerReport {
    return this.#report;
  }

  source(definition: DefinitionInfo): RunnerSource {
    const known = this.#sourceOf.get(definition);
    if (known) return known;
    const source = this.#findSource(definition);
    this.#sourceOf.set(definition, source);
    return source;
  }

  #findSource(definition: DefinitionInfo): RunnerSource {
    const { isolation, command, key, version } = definition;
    const memoryMb = this.#memoryOf(definition);
    const name = command ? `command ${key}@${version}` : `${isolation} ${memoryMb}`;
    const known = this.#sources.get(name);
    if (known) return known;
    const { jobs } = this.#options;
    if (typeof jobs !== 'string') throw new Error(`no runners of kind ${isolation}`);
    if (!command) return this.#pool(jobs, { isolation, memoryMb });
    return this.#add(name, new CommandRunners(this.#room, command, memoryMb));
  }

  async start(): Promise<void> {
    const { jobs, slots, clock, log } = this.#options;
    this.#capacity = this.#main ? this.#main.#capacity : new Capacity(slots + this.#freshSpares);
    if (typeof jobs !== 'string') {
      if (this.#options.shares) await this.#room.start();
      this.#sources.set('inline null', new InlineRunners(jobs, clock, this.#options.publicUrl));
      this.#report = reportOf(jobs);
      return;
    }
    try {
      await this.#startRoom(jobs);
    } catch (error) {
      // A failed start leaves no folder, control group or process.
      await this.stop();
      throw error;
    }
    if (this.#main) return;
    log.info(
      { memoryLimits: this.#room.memoryMethod, usersOfTheirOwn: this.#room.hasUsers },
      'runners are ready',
    );
  }

  async #startRoom(jobs: string): Promise<void> {
    const { clock, log, publicUrl } = this.#options;
    // Before the sandboxes, whose view of the code shows what is built by then.
    const { deployment } = this.#options;
    this.#plan = { files: null, modules: builtModules(), ...(deployment && { deployment }) };
    if (!this.#main) await this.#room.start();
    this.#report = this.#judged(await this.#readDefinitions(jobs));
    this.#pool(jobs, ORDINARY(this.#options.runnerMemoryMb));
    if (this.#room.warning !== null && !this.#main) log.warn(this.#room.warning);
    const { definitions } = this.#report;
    // Only definitions that opted in bring user code into this process.
    if (definitions.some(({ isolation }) => isolation === 'inline')) {
      const inline = await loadDefinitions(jobs, this.#options.deployment);
      this.#sources.set('inline null', new InlineRunners(inline.definitions, clock, publicUrl));
    }
    for (const definition of definitions) this.source(definition);
    for (const service of this.#services) await service.start();
  }

  /** The first process compiles the definitions, and is not used for jobs. */
  async #readDefinitions(jobs: string): Promise<RunnerReport> {
    const first = this.#process(jobs, this.#options.runnerMemoryMb || null);
    const { files = {}, ...report } = await first.ready();
    first.kill();
    await first.exited;
    this.#plan = { ...this.#plan, files };
    return report;
  }

  /** Inline jobs would have the rights of the worker, which are more than a job may have here. */
  #judged({ definitions, problems }: RunnerReport): RunnerReport {
    const { warning, hasUsers } = this.#room;
    const warnings = warning === null ? [] : [warning];
    if (!hasUsers || this.#options.inlineJobs === 'always') {
      return { definitions, problems, warnings };
    }
    const inside = definitions.filter(({ isolation }) => INSIDE.includes(isolation));
    const refused = inside.map(
      ({ key, isolation }) =>
        `${key}: isolation '${isolation}' would run it inside the worker, as root, while jobs have ` +
        `users of their own: say isolation: 'process', or accept it with LONGSHORE_INLINE_JOBS=always`,
    );
    return {
      definitions: definitions.filter((definition) => !inside.includes(definition)),
      problems: [...problems, ...refused],
      warnings,
    };
  }

  /** Null means no limit. Threads have a limit of their own, and inline jobs have none. */
  #memoryOf({ isolation, memoryMb }: Kind): number | null {
    const own = isolation === 'process' || isolation === 'fresh';
    return (memoryMb ?? (own ? this.#options.runnerMemoryMb : null)) || null;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#services.map(async (service) => await service.stop()));
    this.#services.length = 0;
    this.#sources.clear();
    this.#sourceOf.clear();
    if (!this.#main) await this.#room.stop();
  }

  /** Spares are useful for runners that are used once, but not more than the cores can start. */
  get #freshSpares(): number {
    return Math.min(this.#options.slots, 2 * availableParallelism());
  }

  #pool(jobsPath: string, { isolation, memoryMb }: Kind): RunnerPool {
    const { slots, clock, log } = this.#options;
    const reuse = isolation !== 'fresh';
    const usual = ORDINARY(this.#options.runnerMemoryMb);
    const ordinary = isolation === usual.isolation && memoryMb === usual.memoryMb;
    const pool = new RunnerPool({
      spawn: () => this.#spawn(jobsPath, { isolation, memoryMb }),
      capacity: this.#capacity,
      size: slots,
      reuse,
      spares: reuse ? Number(ordinary) : this.#freshSpares,
      clock,
      log,
    });
    return this.#add(`${isolation} ${memoryMb}`, pool);
  }

  #spawn(jobsPath: string, { isolation, memoryMb }: Kind): SpawnedRunner {
    if (isolation !== 'thread') return this.#process(jobsPath, memoryMb);
    const options = this.#runnerOptions(jobsPath, memoryMb);
    // Node limits the heap of a thread.
    return new ThreadRunner(this.#room.sandbox(null), options);
  }

  #process(jobsPath: string, memoryMb: number | null): ProcessRunner {
    const options = this.#runnerOptions(jobsPath, memoryMb);
    return new ProcessRunner(this.#room.sandbox(memoryMb), options);
  }

  #runnerOptions(jobsPath: string, memoryMb: number | null): ProcessRunnerOptions {
    const { runnerMaxJobs: maxJobs, tracing = null } = this.#options;
    return { jobsPath, memoryMb, maxJobs, tracing, plan: this.#plan };
  }

  #add<Source extends RunnerSource & Service>(name: string, source: Source): Source {
    this.#sources.set(name, source);
    this.#services.push(source);
    return source;
  }
}

/** Definitions passed as values have no file to load in another process. */
function reportOf(jobs: readonly JobDefinition[]): RunnerReport {
  const inline = jobs.filter(({ info }) => info.isolation === 'inline');
  const others = jobs.filter(({ info }) => info.isolation !== 'inline');
  return {
    definitions: inline.map(({ info }) => info),
    problems: others.map(({ key, info }) =>
      info.command
        ? `${key}: a command needs a file: give its path, or that of its folder, as the jobs`
        : `${key}: needs isolation 'inline', or give its file as the path of the jobs`,
    ),
  };
}
