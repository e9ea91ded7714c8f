import { Agent } from '../agent/agent.ts';
import type { OpenCommand } from '../agent/commands.ts';
import type { Database, Postgres } from '../servers/postgres.ts';
import { startRedis } from '../servers/redis.ts';
import type { Store } from '../servers/store.ts';
import { systemInfo } from '../systems/catalogue.ts';
import type { Aim } from '../systems/system.ts';

/** What a workload measures with: fresh stores, fresh processes, and how much of everything. */
export class Bench {
  readonly quick: boolean;
  readonly folder: string;
  readonly #postgres: Postgres;

  constructor(options: { quick: boolean; folder: string; postgres: Postgres }) {
    this.quick = options.quick;
    this.folder = options.folder;
    this.#postgres = options.postgres;
  }

  /** The first number in a full run, the second in a quick one. */
  size(full: number, quick: number): number {
    return this.quick ? quick : full;
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
      await using agent = new Agent();
      await agent.call('prepare', system, url, aim);
      await filled?.fill(url);
    };
    return await this.#postgres.clone(name, fill, unfinished);
  }

  /** A fresh process in which the system is open. */
  async open(command: Partial<OpenCommand> & Pick<OpenCommand, 'system' | 'url' | 'role'>) {
    const agent = new Agent();
    try {
      await agent.call('open', { isolation: 'inline', aim: 'throughput', ...command });
    } catch (error) {
      await agent[Symbol.asyncDispose]();
      throw error;
    }
    return agent;
  }
}
