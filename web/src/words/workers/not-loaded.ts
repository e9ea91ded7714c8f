import { problemParts } from '../../../../src/core/definition/not-loaded.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';

export interface NotLoadedFile {
  /** The file, or a definition; null if the text names none. */
  subject: string | null;
  reason: string;
  /** On which workers, for people. */
  where: string;
}

/** One entry per file and reason, with the workers that could not load it. */
export function notLoadedFiles(workers: readonly WorkerView[]): NotLoadedFile[] {
  const found = workers.flatMap(({ host, pid, notLoaded }) =>
    notLoaded.map((text) => ({ text, name: `${host} (pid ${pid})` })),
  );
  return [...Map.groupBy(found, ({ text }) => text)].map(([text, on]) => ({
    ...problemParts(text),
    where: `${on.length === 1 ? 'Worker' : 'Workers'} ${on.map(({ name }) => name).join(', ')}`,
  }));
}
