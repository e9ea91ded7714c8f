import { setTimeout as pause } from 'node:timers/promises';
import type { Recorder } from '../history/recorder.ts';
import type { Random } from '../random.ts';
import type { World } from '../world/world.ts';
import { Client } from './client.ts';
import type { Mix } from './requests.ts';

export interface LoadOptions {
  world: World;
  recorder: Recorder;
  random: Random;
  clients: number;
  mix: Mix;
  /** How long each client rests between two things it does. */
  restMs: number;
  /** The children of one job that is there from the beginning; 0: there is none. */
  fanOut: number;
  /** The jobs of one batch that is filled from the beginning on; 0: there is none. */
  batchJobs: number;
  /** Clients wait when so many jobs have not ended yet. */
  backlogMax: number;
}

const LOOK_MS = 500;

/** All clients of a run, and what keeps them from burying the servers. */
export class Load {
  readonly clients: Client[];
  /** Does only what it is asked for. */
  readonly pinner: Client;
  readonly #options: LoadOptions;
  #running = false;
  #resting = false;
  #calm = true;
  #loops: Promise<void>[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    const { world, recorder, random, mix } = options;
    const apis = new Map(
      [...world.clientLinks].map(([name, { port }]) => [name, `http://127.0.0.1:${port}`]),
    );
    let ops = 0;
    const nextOp = () => (ops += 1);
    const clientNamed = (name: string) =>
      new Client({ name, apis, random: random.stream(name), recorder, mix, nextOp });
    this.clients = Array.from({ length: options.clients }, (_, index) =>
      clientNamed(`client-${index + 1}`),
    );
    this.pinner = clientNamed('pinner');
  }

  get acknowledged(): number {
    return this.clients.reduce((sum, client) => sum + client.acknowledged, 0);
  }

  start(): void {
    this.#running = true;
    const { fanOut, batchJobs } = this.#options;
    this.#loops = [
      ...(fanOut > 0 ? [this.pinner.fanOut(fanOut)] : []),
      ...(batchJobs > 0 ? [this.pinner.batches.fill(batchJobs, async () => this.#ready())] : []),
      ...this.clients.map(async (one) => await this.#keepBusy(one)),
      this.#watch(),
    ];
  }

  get isResting(): boolean {
    return this.#resting;
  }

  /** Clients begin nothing new, so that the servers are idle and can be timed. */
  rest(resting: boolean): void {
    this.#resting = resting;
  }

  /** Each client finishes what it has begun. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#loops);
  }

  /** Waits while too many jobs have not ended. False after the end of the run. */
  async #ready(): Promise<boolean> {
    while (this.#running && (!this.#calm || this.#resting)) await pause(LOOK_MS);
    return this.#running;
  }

  async #keepBusy(client: Client): Promise<void> {
    while (this.#running) {
      if (this.#calm && !this.#resting) await client.act();
      await pause(this.#options.restMs);
    }
  }

  async #watch(): Promise<void> {
    const { world, backlogMax } = this.#options;
    while (this.#running) {
      // Unknown while the database is away; the clients notice by themselves.
      const unfinished = await world.database.unfinished({ suspended: false }).catch(() => 0);
      this.#calm = unfinished < backlogMax;
      await pause(LOOK_MS);
    }
  }
}
