/**
 * What a job might try against other jobs, its worker and its machine. `longshore doctor` runs a
 * probe that tries each; the texts complete "a job can …".
 */
export const ESCAPES = {
  'neighbour-files': 'read the files and params of another job',
  'neighbour-memory': 'read the memory of another job',
  'neighbour-signal': 'end another job',
  'worker-environment': "read its worker's environment",
  'worker-memory': "read its worker's memory, with the database password in it",
  'worker-signal': 'end its worker',
  database: 'read the files of the embedded database',
  'config-file': 'read longshore.config.json, which holds secrets',
  'private-files': "read and change its worker's private files",
  code: 'change the code of the jobs after it',
  'control-group': 'leave its control group',
  limits: 'take off its limits',
  processes: 'start processes without limit',
  setuid: 'gain rights by a setuid program',
  'first-key': 'make the first API key of a server without keys',
} as const satisfies Record<string, string>;

export type Escape = keyof typeof ESCAPES;

/**
 * `escaped`: it worked; `held`: it did not; `untried`: there was nothing to try, for the reason
 * given.
 */
export interface Attempt {
  escape: Escape;
  result: 'held' | 'escaped' | 'untried';
  /** One line on what happened. */
  detail: string;
}

/** The targets of the probe. Null or missing: not present on this machine. */
export interface ProbeTargets {
  workerPid: number;
  neighbour: { pid: number; file: string };
  /** A file that only the worker's user may read. */
  privateFile: string;
  /** The embedded database's password. */
  databaseFile: string | null;
  configFile: string | null;
  /** Code files that the next job will run. */
  code: readonly string[];
  /** A copy of `id` that is setuid root. */
  setuidProgram: string | null;
  /** The address of a running server that has no keys. */
  openServer: string | null;
  /** More processes than a job may have. */
  processes: number;
}
