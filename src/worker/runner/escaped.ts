import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunCommand, ToRunner } from '../ipc.ts';
import type { RunnerSession } from './session.ts';

/**
 * Node tells an error that nobody caught to the process, and not whose it is. The jobs of a process
 * come one after another, and what one of them left running may throw while the next one runs; so
 * each runs in an async context of its own, which its timers, promises and callbacks carry along.
 */
const owners = new AsyncLocalStorage<RunCommand>();

export function receive(session: RunnerSession, message: ToRunner): void {
  if (message.type === 'run') owners.run(message.job, () => session.receive(message));
  else session.receive(message);
}

export function catchEscaped(session: RunnerSession): void {
  process.on('uncaughtException', (error) => session.fail(error, owners.getStore()));
}
