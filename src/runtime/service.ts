/**
 * The one contract of everything that runs in the background: the poller loops, the HTTP server,
 * the embedded PostgreSQL, the worker. `app.ts` starts them in order and stops them in reverse.
 */
export interface Service {
  readonly name: string;
  /**
   * Resolves when the service is ready to do its work. Safe to call twice, and again after a failure
   * and a `stop`. One that may take long ends early, with an error, when the signal aborts.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Resolves when nothing of it is left running. Safe to call twice, and before `start`. */
  stop(): Promise<void>;
}

/** Something that needs no start, only an orderly end. */
export function closing(name: string, stop: () => Promise<void>): Service {
  return { name, start: async () => {}, stop };
}

/**
 * Starts services in the given order; if one refuses, those already up are stopped again. `begin`
 * starts one of them, however often that has to be tried.
 */
export async function startAll(
  services: readonly Service[],
  begin: (service: Service) => Promise<void> = async (service) => await service.start(),
): Promise<void> {
  const started: Service[] = [];
  for (const service of services) {
    try {
      await begin(service);
      started.push(service);
    } catch (error) {
      // Why it did not start is what people must see, whatever the cleaning up has to say.
      await stopAll(started).catch(() => undefined);
      throw error;
    }
  }
}

/** Stops services in reverse order. Every one gets its chance; the first error is thrown at the end. */
export async function stopAll(services: readonly Service[]): Promise<void> {
  const errors: unknown[] = [];
  for (const service of [...services].reverse()) {
    try {
      await service.stop();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
