import { type ChildProcess, fork } from 'node:child_process';
import { children } from '../harness/children.ts';
import { sleep } from '../harness/clock.ts';
import type { CommandName, Commands, FromAgent, Request } from './commands.ts';

const STOP_MS = 10_000;
const STDERR_KEPT = 4_000;

type Answer<Name extends CommandName> = Awaited<ReturnType<Commands[Name]>>;

/** Commands one agent process. */
export class Agent implements AsyncDisposable {
  /** Handlers that have started there, as last reported. */
  count = 0;
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #onCount: (() => void) | undefined;
  #nextId = 1;
  #stderr = '';
  readonly #ended = Promise.withResolvers<never>();

  /** The file is `main.ts` of this folder, or a copy of it beside another checkout. */
  constructor(file: string) {
    this.#child = fork(file, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
    });
    children.add(this.#child);
    this.#child.stderr?.on('data', (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString()).slice(-STDERR_KEPT);
    });
    this.#child.on('message', (message) => this.#receive(message as FromAgent));
    this.#child.on('exit', () => {
      this.#ended.reject(new Error(`an agent ended unexpectedly. ${this.#stderr}`));
    });
    this.#ended.promise.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async call<Name extends CommandName>(
    name: Name,
    ...args: Parameters<Commands[Name]>
  ): Promise<Answer<Name>> {
    const id = this.#nextId++;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    if (this.#child.connected) this.#child.send({ id, name, args } satisfies Request);
    return (await Promise.race([answer.promise, this.#ended.promise])) as Answer<Name>;
  }

  /** Waits, and fails when the process ends meanwhile. */
  async alive(ms: number): Promise<void> {
    await Promise.race([sleep(ms), this.#ended.promise]);
  }

  /** Waits until this many handlers have started; answers whether they have. */
  async reaches(count: number, withinMs: number): Promise<boolean> {
    if (this.count >= count) return true;
    const reached = new Promise<void>((resolve) => {
      this.#onCount = () => {
        if (this.count >= count) resolve();
      };
    });
    await Promise.race([reached, this.alive(withinMs)]);
    this.#onCount = undefined;
    return this.count >= count;
  }

  /** Ends it as its system would, and at once when that takes too long. */
  async stop(): Promise<void> {
    await Promise.race([this.call('stop').catch(() => undefined), sleep(STOP_MS)]);
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await children.end(this.#child);
  }

  #receive(message: FromAgent): void {
    if (message.type === 'count') {
      this.count = message.count;
      this.#onCount?.();
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (message.type === 'answer') pending?.resolve(message.value);
    else pending?.reject(new Error(message.message));
  }
}
