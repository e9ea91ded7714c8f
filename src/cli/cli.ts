import type { Readable } from 'node:stream';
import type {
  diagnose,
  encryptionApp,
  migrateApp,
  runDueApp,
  startApp,
  startIngest,
  startRemoteWorker,
  withKeyDesk,
} from '../app/app.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Environment } from '../config/environment.ts';
import type { StopSignal } from '../runtime/stop-signals.ts';

/** The environment of a CLI run: a real process in `main.ts`, a substitute in tests. */
export interface Cli {
  stdin: Readable;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  clock: Clock;
  /** Default: the environment of the process. */
  env?: Environment;
  directory?: string;
  /** Set by a command that does not succeed. */
  exitCode: number;
  /** Set by a command that must clean up; otherwise a signal ends the process at once. */
  onSignal: ((signal: StopSignal) => void) | null;
  exit(code: number): void;
  /** Loaded by server roles only, because it imports the database driver. */
  loadApp(): Promise<AppModule>;
}

export interface AppModule {
  startApp: typeof startApp;
  startIngest: typeof startIngest;
  startRemoteWorker: typeof startRemoteWorker;
  migrateApp: typeof migrateApp;
  diagnose: typeof diagnose;
  runDueApp: typeof runDueApp;
  withKeyDesk: typeof withKeyDesk;
  encryptionApp: typeof encryptionApp;
}
