import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import {
  API_VERSIONS,
  AUTHENTICATE,
  AUTHENTICATED,
  HANDSHAKE,
  METADATA,
  SAME,
  SYNC_GROUP,
  type Translation,
  TRANSLATIONS,
} from './requests.ts';
import { type Values, WireReader, WireWriter } from './wire.ts';

const UNKNOWN_TOPIC = 3;
const SASL_FAILED = 58;
/** How long the leader of a group waits for members that may be gone. */
const SYNC_WAIT_MS = 1_500;

/** Without them, the connection is plain and needs no user. */
export interface Access {
  tls?: { key: string; cert: string };
  user?: { name: string; password: string };
}

interface Asked {
  translation: Translation;
  request: Values;
}

/**
 * Stands between a client for Kafka 3.5 or later and librdkafka's cluster, which knows only older
 * versions of most requests. Its port stays the same while the broker is away.
 */
export class KafkaAdapter {
  readonly #clusterPort: number;
  readonly #access: Access;
  readonly #sockets = new Set<Socket>();
  /** How many members of a generation have asked for their assignment. */
  readonly #followers = new Map<string, number>();
  #server: Server | undefined;
  #port = 0;
  readonly topics = new Set<string>();

  constructor(clusterPort: number, access: Access = {}) {
    this.#clusterPort = clusterPort;
    this.#access = access;
  }

  get port(): number {
    return this.#port;
  }

  async open(): Promise<void> {
    const { tls } = this.#access;
    const serve = (client: Socket) => this.#serve(client);
    const server = tls ? createTlsServer(tls, serve) : createServer(serve);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Ends all connections, and accepts no others, until it is opened again. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    if (server) await closed;
  }

  #serve(client: Socket): void {
    const cluster = connect(this.#clusterPort, '127.0.0.1');
    const asked = new Map<number, Asked>();
    let isKnown = this.#access.user === undefined;
    for (const [socket, other] of [
      [client, cluster],
      [cluster, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay().on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    onFrames(client, (frame) => {
      const apiKey = frame.readInt16BE(0);
      const correlation = frame.subarray(4, 8);
      if (apiKey === API_VERSIONS) return send(client, correlation, apiVersions());
      if (apiKey === HANDSHAKE) return send(client, correlation, mechanisms());
      if (apiKey === AUTHENTICATE) {
        isKnown = this.#isUser(frame);
        return send(client, correlation, authenticated(isKnown));
      }
      if (!isKnown) return client.destroy();
      const translation = TRANSLATIONS[apiKey];
      if (!translation) return send(cluster, frame);
      const idLength = Math.max(0, frame.readInt16BE(8));
      const header = Buffer.from(frame.subarray(0, 10 + idLength));
      header.writeInt16BE(translation.oldVersion, 2);
      const reader = new WireReader(frame.subarray(10 + idLength), true);
      reader.skipTags();
      const request = reader.struct(translation.request);
      if (apiKey === METADATA && !this.#mayAsk(request)) {
        return send(client, correlation, this.#unknownTopics(request));
      }
      asked.set(correlation.readInt32BE(), { translation, request });
      const old = translation.oldRequest ?? translation.request;
      const body = new WireWriter(false).struct(old, translation.ask?.(request) ?? request);
      const go = () => send(cluster, header, body.bytes());
      if (apiKey === SYNC_GROUP) this.#afterFollowers(request, go);
      else go();
    });
    onFrames(cluster, (frame) => {
      const correlation = frame.readInt32BE(0);
      const { translation, request } = asked.get(correlation) ?? {};
      asked.delete(correlation);
      if (!translation || !request) return send(client, frame);
      const old = translation.oldResponse ?? translation.response;
      const read = new WireReader(frame.subarray(4), false).struct(old);
      const here = this.#withAddress(read);
      const response = translation.answer?.(here, request) ?? here;
      send(client, frame.subarray(0, 4), answer(translation, response));
    });
  }

  /** PLAIN: zero, name, zero, password. */
  #isUser(frame: Buffer): boolean {
    const { name, password } = this.#access.user ?? {};
    return frame.includes(`\0${name}\0${password}\0`);
  }

  /** The cluster answers no member that asks for its assignment after the leader has sent it. */
  #afterFollowers({ groupId, generationId, assignments }: Values, go: () => void): void {
    const generation = `${groupId}:${generationId}`;
    const others = (assignments as Values[]).length - 1;
    if (others < 0) {
      this.#followers.set(generation, (this.#followers.get(generation) ?? 0) + 1);
      return go();
    }
    const deadline = performance.now() + SYNC_WAIT_MS;
    const look = () => {
      const late = performance.now() > deadline;
      if (late || (this.#followers.get(generation) ?? 0) >= others) go();
      else setTimeout(look, 5);
    };
    look();
  }

  /** The cluster creates every topic that it is asked for. */
  #mayAsk({ topics, allowAutoTopicCreation }: Values): boolean {
    const names = (topics as Values[]).map(({ name }) => name as string);
    if (allowAutoTopicCreation as boolean) for (const name of names) this.topics.add(name);
    return names.every((name) => this.topics.has(name));
  }

  #unknownTopics({ topics }: Values): Buffer {
    const brokers = [{ nodeId: 1, host: '127.0.0.1', port: this.#port }];
    const unknown = (topics as Values[]).map(({ name }) => ({
      name: name as string,
      errorCode: this.topics.has(name as string) ? 0 : UNKNOWN_TOPIC,
    }));
    return answer(TRANSLATIONS[METADATA] as Translation, { brokers, topics: unknown });
  }

  /** The addresses of brokers are the address of this adapter. */
  #withAddress(response: Values): Values {
    const brokers = response['brokers'] as Values[] | undefined;
    if (brokers) for (const broker of brokers) broker['port'] = this.#port;
    return 'port' in response ? { ...response, port: this.#port } : response;
  }
}

function answer(translation: Translation, response: Values): Buffer {
  return new WireWriter(true).noTags().struct(translation.response, response).bytes();
}

function mechanisms(): Buffer {
  const fields = { errorCode: 'int16', mechanisms: { each: 'string' } } as const;
  return new WireWriter(false).struct(fields, { mechanisms: ['PLAIN'] }).bytes();
}

function authenticated(isKnown: boolean): Buffer {
  const errorCode = isKnown ? 0 : SASL_FAILED;
  return new WireWriter(true).noTags().struct(AUTHENTICATED, { errorCode }).bytes();
}

function apiVersions(): Buffer {
  const versions: Record<number, number> = {
    ...SAME,
    [API_VERSIONS]: 3,
    [HANDSHAKE]: 1,
    [AUTHENTICATE]: 2,
  };
  for (const [key, { version }] of Object.entries(TRANSLATIONS)) versions[Number(key)] = version;
  const apiKeys = Object.entries(versions).map(([key, version]) => ({
    key: Number(key),
    min: version,
    max: version,
  }));
  const fields = { key: 'int16', min: 'int16', max: 'int16' } as const;
  return new WireWriter(true)
    .struct({ errorCode: 'int16', apiKeys: { each: fields }, throttleTimeMs: 'int32' }, { apiKeys })
    .bytes();
}

function send(socket: Socket, ...parts: Buffer[]): void {
  const body = Buffer.concat(parts);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length);
  socket.write(Buffer.concat([length, body]));
}

function onFrames(socket: Socket, use: (frame: Buffer) => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    for (;;) {
      if (size < 4) return;
      if ((chunks[0]?.length ?? 0) < 4) chunks = [Buffer.concat(chunks)];
      const length = 4 + (chunks[0]?.readInt32BE(0) ?? 0);
      if (size < length) return;
      const all = Buffer.concat(chunks);
      chunks = [all.subarray(length)];
      size -= length;
      use(all.subarray(4, length));
    }
  });
}
