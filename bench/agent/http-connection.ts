import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection that asks one thing at a time. Node's own HTTP client takes about as
 * much CPU per request as the server does; on two cores that would measure the client.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer = Buffer.alloc(0);
  #pending: PromiseWithResolvers<number> | undefined;

  private constructor(socket: Socket, port: number, path: string) {
    this.#socket = socket;
    this.#head = [
      `POST ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      'content-type: application/json',
      '',
    ].join('\r\n');
    socket.setNoDelay(true);
    socket.on('data', (data: Buffer) => this.#receive(data));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => this.#pending?.reject(new Error('the server closed the connection')));
  }

  static async open(port: number, path: string): Promise<HttpConnection> {
    const socket = connect({ host: '127.0.0.1', port });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new HttpConnection(socket, port, path);
  }

  /** Answers with the status. */
  async post(body: string): Promise<number> {
    this.#pending = Promise.withResolvers<number>();
    const length = Buffer.byteLength(body);
    this.#socket.write(`${this.#head}content-length: ${length}\r\n\r\n${body}`);
    return await this.#pending.promise;
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(data: Buffer): void {
    this.#received = this.#received.length === 0 ? data : Buffer.concat([this.#received, data]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) {
      this.#pending?.reject(new Error(`an answer without content-length: ${head}`));
      return;
    }
    const end = headEnd + HEAD_END.length + Number(length);
    if (this.#received.length < end) return;
    this.#received = this.#received.subarray(end);
    this.#pending?.resolve(Number(head.slice(9, 12)));
  }
}
