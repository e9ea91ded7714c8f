import { nowMs } from './clock.ts';
import { secondsOf, type Step } from './plan.ts';

/** One line on stderr: how far, what now, how long still. */
export class Progress {
  readonly #steps: readonly Step[];
  readonly #quick: boolean;
  /** How long a step of this workload and system took last. */
  readonly #known = new Map<string, number>();
  #done = 0;
  #startedMs = 0;

  constructor(steps: readonly Step[], quick: boolean) {
    this.#steps = steps;
    this.#quick = quick;
  }

  begin(step: Step): void {
    this.#startedMs = nowMs();
    this.say(
      `[${this.#done + 1}/${this.#steps.length}] ${step.workload.name} ${step.system}` +
        ` (round ${step.round + 1}), eta ${duration(this.#left())}`,
    );
  }

  end(step: Step): void {
    this.#known.set(nameOf(step), (nowMs() - this.#startedMs) / 1_000);
    this.#done++;
  }

  /** On a terminal the line is written over; in a log each is kept. */
  say(text: string): void {
    const { stderr } = process;
    if (stderr.isTTY) stderr.write(`\r\x1b[K${text.slice(0, stderr.columns - 1)}`);
    else stderr.write(`${text}\n`);
  }

  clear(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  #left(): number {
    return this.#steps.slice(this.#done).reduce((sum, step) => sum + this.#guess(step), 0);
  }

  #guess(step: Step): number {
    return this.#known.get(nameOf(step)) ?? secondsOf(step, this.#quick);
  }
}

function nameOf({ workload, system }: Step): string {
  return `${workload.name} ${system}`;
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = `${Math.round(seconds % 60)}`.padStart(2, '0');
  return minutes >= 60
    ? `${Math.floor(minutes / 60)} h ${`${minutes % 60}`.padStart(2, '0')} min`
    : `${minutes}:${rest}`;
}
