import type { SavedView, ViewScreen } from '../../core/search/saved-view.ts';
import type { Transport } from '../http/transport.ts';

/** A saved view as the server shows it. */
export type View = SavedView;

export interface ViewOptions {
  screen: ViewScreen;
  /** The query string of the screen in the dashboard. */
  query: string;
}

/** Saved views of lists, which the people of a tenant share: `client.views`. */
export class Views {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(): Promise<View[]> {
    const call = { method: 'GET', path: '/v1/views', repeatable: true } as const;
    return (await this.#transport.call<{ views: View[] }>(call)).views;
  }

  /** Creates a view, or replaces the one with this name. */
  async save(name: string, { screen, query }: ViewOptions): Promise<View> {
    const body = { screen, query };
    const path = pathOf(name);
    return await this.#transport.call({ method: 'PUT', path, body, repeatable: true });
  }

  /** Not repeated after a broken connection: it may be deleted by then. */
  async delete(name: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(name), repeatable: false });
  }
}

function pathOf(name: string): string {
  return `/v1/views/${encodeURIComponent(name)}`;
}
