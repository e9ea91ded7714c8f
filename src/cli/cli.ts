import type { Readable } from 'node:stream';
import type {
  diagnose,
  encryptionApp,
  migrateApp,
  runDueApp,
  startApp,
  withKeyDesk,
} from '../app/app.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Environment } from '../config/environment.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** What surrounds a run of the program: a real process in `main.ts`, something smaller in tests. */
export interface Cli {
  stdin: Readable;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  clock: Clock;
  /** The process's own when absent. */
  env?: Environment;
  directory?: string;
  /** Set by a command that ends otherwise than well. */
  exitCode: number;
  /** Set by a command that has something to do before it ends; else a signal ends it at once. */
  onSignal: ((signal: StopSignal) => void) | null;
  exit(code: number): void;
  /** Only the server roles need it, and it brings the database driver along. */
  loadApp(): Promise<AppModule>;
}

export interface AppModule {
  startApp: typeof startApp;
  migrateApp: typeof migrateApp;
  diagnose: typeof diagnose;
  runDueApp: typeof runDueApp;
  withKeyDesk: typeof withKeyDesk;
  encryptionApp: typeof encryptionApp;
}
