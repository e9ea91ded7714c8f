import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** A CPU profile of this process, from the moment its system is open until it stops. */
export class Profiler {
  readonly #session = new Session();
  readonly #path: string;

  constructor(folder: string, role: string) {
    this.#path = join(folder, `${role}-${process.pid}.cpuprofile`);
  }

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.start');
  }

  async write(): Promise<void> {
    const { profile } = await this.#session.post('Profiler.stop');
    writeFileSync(this.#path, JSON.stringify(profile));
  }
}
