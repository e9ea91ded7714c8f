import type { CommandInfo } from '../../core/definition/definition.ts';
import type { Service } from '../../runtime/service.ts';
import { CommandRunner } from './command-runner.ts';
import type { Sandboxes } from '../isolation/sandboxes.ts';
import type { Runner, RunnerSource } from './runner.ts';

/** Every job of a command gets a process of its own, started when the job is given. */
export class CommandRunners implements RunnerSource, Service {
  readonly name = 'commands';
  readonly #room: Sandboxes;
  readonly #command: CommandInfo;
  readonly #memoryMb: number | null;
  readonly #running = new Set<CommandRunner>();

  constructor(room: Sandboxes, command: CommandInfo, memoryMb: number | null) {
    this.#room = room;
    this.#command = command;
    this.#memoryMb = memoryMb;
  }

  async start(): Promise<void> {}

  acquire(): Runner {
    const runner = new CommandRunner(this.#room.sandbox(this.#memoryMb), this.#command);
    this.#running.add(runner);
    void runner.exited.then(() => this.#running.delete(runner));
    return runner;
  }

  release(runner: Runner): void {
    runner.forget();
    runner.kill();
  }

  async stop(): Promise<void> {
    const running = [...this.#running];
    for (const runner of running) runner.kill();
    await Promise.all(running.map(async (runner) => await runner.exited));
  }
}
