import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Consumer, Producer } from '@platformatic/kafka';
import { EXTRAS, isInstalled } from '../../checks/extras.ts';
import { type Access, KafkaAdapter } from './adapter.ts';

/** Debian's package kcat brings librdkafka, which contains a cluster. */
export const hasKafka = isInstalled('kcat') && isInstalled('python3');

const CLUSTER = fileURLToPath(new URL('cluster.py', import.meta.url));

/** One broker with topics in memory: librdkafka's cluster, behind an adapter for newer clients. */
export class TestKafka {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #address: string;
  readonly #adapter: KafkaAdapter;
  #producer: Producer | undefined;

  private constructor(child: ChildProcess, lines: Interface, address: string) {
    this.#child = child;
    this.#lines = lines;
    this.#address = address;
    this.#adapter = new KafkaAdapter(Number(address.split(':')[1]));
  }

  static async start(): Promise<TestKafka> {
    const child = spawn(EXTRAS.python3, [CLUSTER], { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface(child.stdout);
    const [address] = (await once(lines, 'line')) as [string];
    const kafka = new TestKafka(child, lines, address);
    await kafka.#adapter.open();
    return kafka;
  }

  /** With a short timeout, so that a killed process does not hold its partitions for long. */
  get url(): string {
    return `kafka://127.0.0.1:${this.#adapter.port}?session-timeout-ms=3500`;
  }

  async makeTopic(name: string, partitions = 1): Promise<void> {
    const made = once(this.#lines, 'line');
    this.#child.stdin?.write(`topic ${name} ${partitions}\n`);
    const [answer] = (await made) as [string];
    if (answer !== 'made') throw new Error(`topic ${name}: ${answer}`);
    this.#adapter.topics.add(name);
  }

  /** Connections end and are refused, as when the broker crashes. It keeps its messages. */
  async goAway(): Promise<void> {
    await this.#producer?.close().catch(() => undefined);
    this.#producer = undefined;
    await this.#adapter.close();
  }

  async comeBack(): Promise<void> {
    await this.#adapter.open();
  }

  /** Sends, and waits until the broker has them all. */
  async send(topic: string, messages: readonly TestMessage[]): Promise<void> {
    this.#producer ??= new Producer({ clientId: 'test', ...this.#bootstrap() });
    await this.#producer.send({
      messages: messages.map(({ body, key, headers = {}, partition }) => ({
        topic,
        ...(key === undefined ? {} : { key: Buffer.from(key) }),
        value: Buffer.isBuffer(body) ? body : Buffer.from(asText(body)),
        headers: new Map(
          Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
        ),
        ...(partition === undefined ? {} : { partition }),
      })),
    });
  }

  /** What a topic contains, read by another client without the adapter. */
  async readAll(topic: string): Promise<ReadMessage[]> {
    const args = ['-C', '-q', '-e', '-J', '-b', this.#address, '-t', topic, '-o', 'beginning'];
    const { stdout } = await promisify(execFile)(EXTRAS.kcat, args, { maxBuffer: 2 ** 26 });
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RawMessage)
      .map(({ partition, offset, key, payload, headers = [] }) => ({
        partition,
        offset,
        key,
        body: payload,
        headers: Object.fromEntries(pairsOf(headers)),
      }));
  }

  /** The sum of the committed offsets of a group over the partitions of a topic. */
  async committed(topic: string, group: string, partitions = 1): Promise<number> {
    const consumer = new Consumer({ clientId: 'test', groupId: group, ...this.#bootstrap() });
    try {
      const asked = { topic, partitions: Array.from({ length: partitions }, (_, at) => at) };
      const offsets = (await consumer.listCommittedOffsets({ topics: [asked] })).get(topic) ?? [];
      return offsets.reduce((sum, offset) => sum + Math.max(0, Number(offset)), 0);
    } finally {
      await consumer.close();
    }
  }

  /** Another way to the same broker. */
  async openAnother(access: Access): Promise<KafkaAdapter> {
    const adapter = new KafkaAdapter(Number(this.#address.split(':')[1]), access);
    for (const topic of this.#adapter.topics) adapter.topics.add(topic);
    await adapter.open();
    return adapter;
  }

  async remove(): Promise<void> {
    await this.goAway();
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  #bootstrap() {
    return { bootstrapBrokers: [`127.0.0.1:${this.#adapter.port}`] };
  }
}

export interface TestMessage {
  body: unknown;
  key?: string;
  headers?: Record<string, string>;
  partition?: number;
}

export interface ReadMessage {
  partition: number;
  offset: number;
  key: string | null;
  body: string | null;
  headers: Record<string, string>;
}

interface RawMessage extends Omit<ReadMessage, 'body' | 'headers'> {
  payload: string | null;
  /** Names and values in turn. */
  headers?: string[];
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : []));
}

function asText(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}
