/**
 * The interface of everything that runs in the background: pollers, the HTTP server, the embedded
 * PostgreSQL, the worker. `app.ts` starts them in order and stops them in reverse.
 */
export interface Service {
  readonly name: string;
  /**
   * Resolves when the service is ready. Safe to call twice, and again after a failure and a `stop`.
   * A slow start ends early with an error when the signal aborts.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Resolves when nothing is left running. Safe to call twice, and before `start`. */
  stop(): Promise<void>;
}

/** A service that only needs to be stopped. */
export function closing(name: string, stop: () => Promise<void>): Service {
  return { name, start: async () => {}, stop };
}

/**
 * Starts services in order; if one fails, those already started are stopped. `begin` starts one
 * service, with retries.
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
      // Report the error of the start, not that of the clean-up.
      await stopAll(started).catch(() => undefined);
      throw error;
    }
  }
}

/** Stops services in reverse order. Stops all of them, then throws the first error. */
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
