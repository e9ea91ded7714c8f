import type { InjectServer } from '../server-edge.ts';

export interface Visited {
  status: number;
  location: string | null;
  text: string;
  cookies: readonly string[];
}

/** A browser without pages: keeps cookies and follows redirects through the pages of the provider. */
export class Visitor {
  readonly #publicUrl: string;
  readonly #jars = new Map<string, Map<string, string>>();
  /** The server that the public address leads to; several stand for a load balancer. */
  server: InjectServer;

  constructor(publicUrl: string, server: InjectServer) {
    this.#publicUrl = publicUrl;
    this.server = server;
  }

  /** The cookies of Longshore, as a header. */
  get cookie(): string {
    return this.#cookieFor(this.#publicUrl);
  }

  /** Goes through the sign-in and consent pages; stops at the way back to Longshore. */
  async authorize(login: string, query = ''): Promise<string> {
    let next = `${this.#publicUrl}/v1/sign-in/sso${query}`;
    let form: URLSearchParams | null = null;
    for (let hops = 0; hops < 12; hops += 1) {
      const { location, text, status } = await this.visit(next, form);
      form = null;
      if (location !== null) {
        next = new URL(location, next).href;
        if (next.startsWith(`${this.#publicUrl}/v1/sign-in/sso/callback`)) return next;
        continue;
      }
      const action = /<form [^>]*action="([^"]+)"/.exec(text)?.[1];
      if (action === undefined) throw new Error(`no form at ${next}: ${status} ${text}`);
      next = new URL(action, next).href;
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? '';
      form = new URLSearchParams({ prompt, login, password: 'any' });
    }
    throw new Error('the provider does not come to an end');
  }

  /** Signs in up to the answer of Longshore. */
  async signIn(login: string, query = ''): Promise<Visited> {
    return await this.visit(await this.authorize(login, query));
  }

  async visit(url: string, form: URLSearchParams | null = null): Promise<Visited> {
    const isOurs = url.startsWith(this.#publicUrl);
    const visited = isOurs ? await this.#ask(url) : await this.#fetch(url, form);
    const jar = this.#jars.get(new URL(url).origin) ?? new Map<string, string>();
    this.#jars.set(new URL(url).origin, jar);
    for (const text of visited.cookies) {
      const [pair = '', ...rules] = text.split('; ');
      const [name = '', value = ''] = pair.split(/=(.*)/s, 2);
      if (rules.some((rule) => /^(max-age=0|expires=.*1970)/i.test(rule))) jar.delete(name);
      else jar.set(name, value);
    }
    return visited;
  }

  #cookieFor(url: string): string {
    const jar = this.#jars.get(new URL(url).origin) ?? new Map<string, string>();
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async #ask(url: string): Promise<Visited> {
    const { pathname, search, host } = new URL(url);
    const { pathname: prefix } = new URL(this.#publicUrl);
    const path = prefix === '/' ? pathname : pathname.slice(prefix.length);
    const headers = { host, cookie: this.#cookieFor(url), 'user-agent': 'A browser' };
    const answer = await this.server.inject({ method: 'GET', url: `${path}${search}`, headers });
    return {
      status: answer.statusCode,
      location: answer.headers.location === undefined ? null : String(answer.headers.location),
      text: answer.body,
      cookies: [answer.headers['set-cookie'] ?? []].flat(),
    };
  }

  async #fetch(url: string, form: URLSearchParams | null): Promise<Visited> {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: this.#cookieFor(url) },
      ...(form && { method: 'POST', body: form }),
    });
    return {
      status: answer.status,
      location: answer.headers.get('location'),
      text: await answer.text(),
      cookies: answer.headers.getSetCookie(),
    };
  }
}
