import { fileURLToPath } from 'node:url';
import { createLongshore, defineJob } from '../../src/index.ts';
import { noop as commandNoop } from '../definitions/command.ts';
import { noop as freshNoop } from '../definitions/fresh.ts';
import { noop as processNoop } from '../definitions/process.ts';
import { noop as threadNoop } from '../definitions/thread.ts';
import type { Adapter, Isolation, OpenOptions, Params } from './system.ts';

export const adapter: Adapter = {
  async prepare(databaseUrl) {
    const longshore = await createLongshore({
      databaseUrl,
      jobs: [processNoop],
      worker: false,
      logLevel: 'warn',
    });
    await longshore.stop();
  },
  async open({ url, role, isolation, handler }: OpenOptions) {
    const { definition, jobs } = definitionFor(isolation, handler);
    const longshore = await createLongshore({
      databaseUrl: url,
      jobs,
      concurrency: isolation === 'inline' ? 500 : 4,
      worker: role !== 'producer',
      logLevel: 'warn',
    });
    return {
      enqueue: async (params) => await longshore.enqueue(definition, params),
      enqueueMany: async (list) =>
        await longshore.enqueueMany(list.map((params) => ({ definition, params }))),
      stop: async () => await longshore.stop(),
    };
  },
};

function definitionFor(isolation: Isolation, handler: (params: Params) => void) {
  switch (isolation) {
    case 'inline': {
      const definition = defineJob({
        key: 'noop',
        isolation,
        run: (params: Params) => {
          handler(params);
          return null;
        },
      });
      return { definition, jobs: [definition] };
    }
    case 'process':
      return { definition: processNoop, jobs: pathOf('process.ts') };
    case 'fresh':
      return { definition: freshNoop, jobs: pathOf('fresh.ts') };
    case 'thread':
      return { definition: threadNoop, jobs: pathOf('thread.ts') };
    case 'command':
      return { definition: commandNoop, jobs: pathOf('command.ts') };
  }
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../definitions/${file}`, import.meta.url));
}
