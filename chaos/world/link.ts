import { connect, createServer, type Server, type Socket } from 'node:net';
import { Channel, type Weather } from './channel.ts';
import { applicationIn, statementIn, Wire } from './wire.ts';

/**
 * The network between one process and one server, as a TCP proxy: each process has a link of its
 * own, so that each can fail alone. The sharpest of its faults is the cut: a request goes through,
 * the server carries it out and says so, and exactly that answer is lost with the connection. For
 * PostgreSQL the moment is known by its protocol: ReadyForQuery comes after the commit.
 */

/** Waits for a statement on this link; null for a request of any kind. */
export interface Trap {
  statements: readonly string[] | null;
  /** Called when it has happened. */
  onSprung(statement: string): void;
}

interface Connection {
  client: Socket;
  server: Socket;
  up: Channel;
  down: Channel;
  application: string;
  /** A request whose answer must not arrive, and whom to tell. */
  doomed: { statement: string; trap: Trap } | null;
}

export class Link {
  readonly name: string;
  readonly #speaks: 'postgres' | 'http';
  readonly #random: () => number;
  readonly #connections = new Set<Connection>();
  #server: Server | undefined;
  #targetPort = 0;
  #weather: Weather = { kind: 'pass' };
  /** Whom the weather concerns, by the name under which a connection introduced itself. */
  #concerns: (application: string) => boolean = () => true;
  #refusing = false;
  #refused = 0;
  #cut: Trap | null = null;
  #stall: Trap | null = null;

  constructor(name: string, speaks: 'postgres' | 'http', random: () => number) {
    this.name = name;
    this.#speaks = speaks;
    this.#random = random;
  }

  async open(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
    this.#server = server;
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  }

  get port(): number {
    const bound = this.#server?.address();
    if (typeof bound !== 'object' || !bound) throw new Error(`the link ${this.name} is not open`);
    return bound.port;
  }

  /** A server that was started again may listen elsewhere. */
  set targetPort(port: number) {
    this.#targetPort = port;
  }

  /** How many connections have lost bytes and do not know it. */
  get damaged(): number {
    return [...this.#connections].filter(isDamaged).length;
  }

  /** How many connections it has turned away. */
  get refused(): number {
    return this.#refused;
  }

  /** The ports under which the server knows the connections of this link. */
  get serverPorts(): number[] {
    return [...this.#connections].flatMap(({ server }) => server.localPort ?? []);
  }

  setWeather(weather: Weather, concerns: (application: string) => boolean = () => true): void {
    this.#weather = weather;
    this.#concerns = concerns;
    for (const connection of this.#connections) this.#expose(connection);
  }

  /** Connections that lost bytes on the way are of no use to anybody, so they end now. */
  clear(): void {
    this.#refusing = false;
    this.disarm();
    this.setWeather({ kind: 'pass' });
    for (const connection of this.#connections) if (isDamaged(connection)) this.#reset(connection);
  }

  /** Refuses new connections and closes the open ones. */
  refuse(): void {
    this.#refusing = true;
    this.resetAll();
  }

  resetAll(): void {
    for (const connection of this.#connections) this.#reset(connection);
  }

  /** Once: the next request of that kind is carried out, and its answer is lost. */
  armCut(trap: Trap): void {
    this.#cut = trap;
  }

  /** Once: the next request of that kind is the first that is held up, and all others with it. */
  armStall(trap: Trap): void {
    this.#stall = trap;
  }

  disarm(): void {
    this.#cut = null;
    this.#stall = null;
  }

  async close(): Promise<void> {
    this.resetAll();
    // A connection that never says that it is closed must not hold up the end of a run.
    this.#server?.close();
    await Promise.resolve();
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#refusing) {
      this.#refused += 1;
      return void client.resetAndDestroy();
    }
    const server = connect({ port: this.#targetPort, host: '127.0.0.1', allowHalfOpen: true });
    const connection: Connection = {
      client,
      server,
      up: new Channel(server, this.#random),
      down: new Channel(client, this.#random),
      application: '',
      doomed: null,
    };
    this.#connections.add(connection);
    client.setNoDelay(true);
    server.setNoDelay(true);
    const fromClient = this.#speaks === 'postgres' ? this.#watchRequests(connection) : null;
    const fromServer = this.#speaks === 'postgres' ? this.#watchAnswers(connection) : null;
    this.#expose(connection);
    client.on('data', (chunk) => {
      if (fromClient) fromClient.push(chunk);
      else this.#doom(connection, 'request');
      connection.up.send(chunk);
    });
    server.on('data', (chunk) => {
      fromServer?.push(chunk);
      if (connection.doomed === null) connection.down.send(chunk);
      else if (!fromServer) this.#cutOff(connection);
    });
    client.on('end', () => connection.up.end());
    server.on('end', () => connection.down.end());
    server.on('error', () => this.#reset(connection));
    client.on('close', () => connection.up.end());
    server.on('close', () => {
      if (connection.down.lossy || connection.client.destroyed) this.#reset(connection);
      else connection.down.end();
      this.#connections.delete(connection);
    });
  }

  #watchRequests(connection: Connection): Wire {
    return new Wire(false, (type, prefix) => {
      if (type === 'startup') {
        connection.application = applicationIn(prefix);
        this.#expose(connection);
        return;
      }
      const statement = statementIn(type, prefix);
      if (statement !== null) this.#doom(connection, statement);
    });
  }

  #watchAnswers(connection: Connection): Wire {
    return new Wire(true, (type) => {
      if (type === 'Z' && connection.doomed !== null) this.#cutOff(connection);
    });
  }

  #doom(connection: Connection, statement: string): void {
    const stall = this.#stall;
    if (stall && waitsFor(stall, statement)) {
      this.#stall = null;
      this.setWeather({ kind: 'stall' });
      stall.onSprung(statement);
    }
    const trap = this.#cut;
    if (trap && !connection.doomed && waitsFor(trap, statement)) {
      this.#cut = null;
      connection.doomed = { statement, trap };
    }
  }

  #cutOff(connection: Connection): void {
    const { doomed } = connection;
    this.#reset(connection);
    doomed?.trap.onSprung(doomed.statement);
  }

  #expose({ up, down, application }: Connection): void {
    const weather = this.#concerns(application) ? this.#weather : ({ kind: 'pass' } as const);
    up.weather = weather;
    down.weather = weather;
  }

  #reset(connection: Connection): void {
    this.#connections.delete(connection);
    connection.up.drop();
    connection.down.drop();
    connection.client.resetAndDestroy();
    connection.server.resetAndDestroy();
  }
}

function isDamaged({ up, down }: Connection): boolean {
  return up.lossy || down.lossy;
}

function waitsFor({ statements }: Trap, statement: string): boolean {
  return statements === null || statements.includes(statement);
}
