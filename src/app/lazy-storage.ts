import type { OpenedStorage } from '../artifacts/storage.ts';

/** Its packages are loaded when they are needed for the first time. */
export function lazyStorage(address: string): OpenedStorage {
  let opened: Promise<OpenedStorage> | undefined;
  const open = async () => {
    opened ??= import('../artifacts/open-storage.ts').then(
      async ({ openStorage }) => await openStorage(address),
    );
    return await opened;
  };
  return {
    address,
    put: async (...args) => await (await open()).put(...args),
    get: async (...args) => await (await open()).get(...args),
    head: async (name) => await (await open()).head(name),
    delete: async (name) => await (await open()).delete(name),
    async *reports() {
      yield* (await open()).reports();
    },
    close: () => void opened?.then((storage) => storage.close()),
  };
}
