import { SideServer } from './side-server.ts';
import { until } from '../until.ts';

export const PROMETHEUS = 'prometheus';

/** A value of an instant query, with its labels. */
export interface Answered {
  metric: Record<string, string>;
  value: number;
}

/** A real Prometheus that scrapes and evaluates as its files say. */
export class TestPrometheus {
  readonly #server: SideServer;

  private constructor(server: SideServer) {
    this.#server = server;
  }

  /** Among the files is `prometheus.yaml`, which may name the others. */
  static async start(files: Record<string, string>): Promise<TestPrometheus> {
    const server = await SideServer.create(PROMETHEUS, (folder, port) => ({
      args: [
        `--config.file=${folder}/prometheus.yaml`,
        `--storage.tsdb.path=${folder}/data`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      files,
    }));
    await server.start();
    const prometheus = new TestPrometheus(server);
    await until('Prometheus is ready', async () => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/-/ready`).catch(() => null);
      return answer?.ok;
    });
    return prometheus;
  }

  async remove(): Promise<void> {
    await this.#server.remove();
  }

  /** What an expression gives now. */
  async query(expression: string): Promise<Answered[]> {
    const asked = new URLSearchParams({ query: expression }).toString();
    const { result } = await this.#data<{
      result: { metric: Record<string, string>; value: [number, string] }[];
    }>(`query?${asked}`);
    return result.map(({ metric, value: [, text] }) => ({ metric, value: Number(text) }));
  }

  /** How many series a selector finds. */
  async seriesOf(selector: string): Promise<number> {
    const asked = new URLSearchParams({ 'match[]': selector }).toString();
    return (await this.#data<unknown[]>(`series?${asked}`)).length;
  }

  async targets(): Promise<{ scrapePool: string; health: string; lastError: string }[]> {
    const { activeTargets } = await this.#data<{
      activeTargets: { scrapePool: string; health: string; lastError: string }[];
    }>('targets');
    return activeTargets;
  }

  async rules(): Promise<{ name: string; health: string; lastError?: string }[]> {
    const { groups } = await this.#data<{
      groups: { rules: { name: string; health: string; lastError?: string }[] }[];
    }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  async #data<Data>(path: string): Promise<Data> {
    const answer = await fetch(`http://127.0.0.1:${this.#server.port}/api/v1/${path}`);
    const body = (await answer.json()) as { status: string; error?: string; data: Data };
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`);
    return body.data;
  }
}
