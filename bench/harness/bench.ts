import { Agent } from '../agent/agent.ts';
import type { OpenCommand } from '../agent/commands.ts';
import { type LongshoreServer, startLongshore } from '../servers/longshore.ts';
import type { Database, Postgres } from '../servers/postgres.ts';
import { startRedis } from '../servers/redis.ts';
import type { Store } from '../servers/store.ts';
import { BASELINE, systemInfo } from '../systems/catalogue.ts';
import type { Aim } from '../systems/system.ts';
import { baselineOf, Checkout } from './checkout.ts';
import type { Options } from './options.ts';

/** What a workload measures with: fresh stores, fresh processes, and how much of everything. */
export class Bench {
  readonly folder: string;
  readonly #options: Options;
  readonly #postgres: Postgres;
  readonly #own = new Checkout();
  readonly #baseline: Checkout;

  constructor(options: Options, folder: string, postgres: Postgres) {
    this.#options = options;
    this.folder = folder;
    this.#postgres = postgres;
    this.#baseline =
      options.baseline === undefined ? this.#own : baselineOf(options.baseline, folder);
  }

  /** The first number in a full run, the second in a quick one. */
  size(full: number, quick: number): number {
    return this.#options.quick ? quick : full;
  }

  /** The same for the number of jobs, which `--jobs` overrides. */
  jobs(full: number, quick: number): number {
    return this.#options.jobs ?? this.size(full, quick);
  }

  /** Whose code a system runs. */
  checkout(system: string): Checkout {
    return system === BASELINE ? this.#baseline : this.#own;
  }

  async store(system: string, aim: Aim = 'throughput'): Promise<Store> {
    const { store, unfinished } = systemInfo(system);
    if (store === 'redis-everysec') return await startRedis(this.folder, 'everysec', unfinished);
    if (store === 'redis-always') return await startRedis(this.folder, 'always', unfinished);
    return await this.database(system, aim);
  }

  /** With `filled`, the template is filled further under that name before it is cloned. */
  async database(
    system: string,
    aim: Aim = 'throughput',
    filled?: { name: string; fill: (url: string) => Promise<void> },
  ): Promise<Database> {
    const { family, unfinished } = systemInfo(system);
    const name = [family, aim, filled?.name].filter(Boolean).join('_');
    const fill = async (url: string): Promise<void> => {
      await using agent = this.agent(system);
      await agent.call('prepare', system, url, aim);
      await filled?.fill(url);
    };
    return await this.#postgres.clone(name, fill, unfinished);
  }

  /** `longshore api` or `longshore start`, as a user runs it. */
  async server(
    system: string,
    role: 'api' | 'start',
    databaseUrl: string | null,
    flags: readonly string[] = [],
  ): Promise<LongshoreServer> {
    return await startLongshore(this.checkout(system).program, role, databaseUrl, flags);
  }

  agent(system: string): Agent {
    return new Agent(this.checkout(system).agentFile);
  }

  /** Opens the system in a fresh process. */
  async open(
    command: Partial<OpenCommand> & Pick<OpenCommand, 'system' | 'url' | 'role'>,
    agent = this.agent(command.system),
  ): Promise<Agent> {
    try {
      const { profile } = this.#options;
      await agent.call('open', {
        isolation: 'inline',
        aim: 'throughput',
        ...(profile !== undefined && { profileFolder: profile }),
        ...command,
      });
    } catch (error) {
      await agent[Symbol.asyncDispose]();
      throw error;
    }
    return agent;
  }
}
