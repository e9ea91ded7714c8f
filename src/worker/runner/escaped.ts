import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunCommand, ToRunner } from '../ipc.ts';
import type { RunnerSession } from './session.ts';

/**
 * Node reports an uncaught error to the process, without its job. A process runs one job after
 * another, and what one left running may throw during the next; so each job runs in an async
 * context of its own, which its timers, promises and callbacks inherit.
 */
const owners = new AsyncLocalStorage<RunCommand>();

export function receive(session: RunnerSession, message: ToRunner): void {
  if (message.type === 'run') owners.run(message.job, () => session.receive(message));
  else session.receive(message);
}

export function catchEscaped(session: RunnerSession): void {
  process.on('uncaughtException', (error) => session.fail(error, owners.getStore()));
}
