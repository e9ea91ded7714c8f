import type { Config } from '../../config/config.ts';
import type { HttpServer } from '../../http/server.ts';
import type { Log } from '../../runtime/log.ts';
import type { Service } from '../../runtime/service.ts';
import { StartRefusal } from '../../runtime/start-refusal.ts';
import { loadTracing } from '../../signals/load-tracing.ts';
import { assemble, type Base } from '../assemble.ts';
import type { WorkerSummary } from '../worker-child.ts';

export interface AppSummary {
  database: string;
  address: string | null;
  definitions: { key: string; version: number }[];
  /** Problems to print at start, such as definition files that could not be loaded. */
  problems: string[];
  slots: number | null;
}

export interface App {
  readonly summary: AppSummary;
  /** Resolves when its worker was asked to drain: then the process stops. */
  readonly drainAsked?: Promise<void> | undefined;
  /** Lets its worker finish, and starts a new one that loads the definitions anew. */
  reload?(): Promise<AppSummary>;
  stop(): Promise<void>;
}

/** The services of a role. */
export interface Parts {
  services: Service[];
  drainAsked?: Promise<void>;
  reload?(): Promise<void>;
  summary(): Omit<AppSummary, 'database'>;
}

/** Rejects with a `StartRefusal` for what a restart cannot fix, or on the signal; retries everything else. */
export async function startRole(
  config: Config,
  ownCluster: boolean,
  log: Log,
  compose: (base: Base) => Parts,
  signal?: AbortSignal,
): Promise<App> {
  await loadTracing(config.tracing).catch((error: unknown) => {
    const words = error instanceof Error ? error.message : String(error);
    throw new StartRefusal('configuration', words, { cause: error });
  });
  const app = await assemble(config, { ownCluster, waits: true, signal }, log, compose);
  const { summary: parts, drainAsked, reload } = app.parts;
  const now = () => ({ database: app.database, ...parts() });
  return {
    summary: now(),
    drainAsked,
    ...(reload && { reload: async () => await reload().then(now) }),
    stop: app.stop,
  };
}

export function summary(of: {
  http?: HttpServer;
  worker?: WorkerSummary | undefined;
}): Omit<AppSummary, 'database'> {
  return {
    address: of.http?.address ?? null,
    definitions: (of.worker?.definitions ?? []).map(({ key, version }) => ({ key, version })),
    problems: of.worker?.problems ?? [],
    slots: of.worker?.slots ?? null,
  };
}
