import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from 'longshore';
import { z } from 'zod';

interface Crawl {
  waiting: { url: string; from: string }[];
  seen: string[];
  dead: { url: string; from: string; why: string }[];
  pages: number;
}

const LINK = /<a\s[^>]*href\s*=\s*["']([^"'#]+)/gi;

/**
 * Looks for dead links on one site. It is polite: one request at a time and a pause between two, which
 * is the rate limit of a host as long as each host is one job. What a page said is checkpointed, so an
 * attempt that was lost repeats one page at most. A 429 fails the attempt, and the job waits as long as
 * its Retry-After says.
 */
export const crawlSite = defineJob({
  key: 'crawl.site',
  owner: 'team-web',
  params: z.object({
    url: z.url(),
    pagesMax: z.int().min(1).default(200),
    pauseMs: z.number().min(0).default(500),
  }),
  maxAttempts: 20,
  timeoutSeconds: 3_600,
  async run({ url, pagesMax, pauseMs }, ctx) {
    const { origin } = new URL(url);
    const crawl = (ctx.lastCheckpoint as Crawl | undefined) ?? {
      waiting: [{ url, from: '' }],
      seen: [url],
      dead: [],
      pages: 0,
    };
    for (
      let next = crawl.waiting[0];
      next && crawl.seen.length <= 10 * pagesMax;
      next = crawl.waiting[0]
    ) {
      const found = await look(next.url, ctx.abortSignal);
      crawl.waiting.shift();
      if ('why' in found) crawl.dead.push({ ...next, why: found.why });
      else if (crawl.pages < pagesMax) {
        crawl.pages += 1;
        for (const link of linksOf(found.html, next.url, origin)) {
          if (crawl.seen.includes(link)) continue;
          crawl.seen.push(link);
          crawl.waiting.push({ url: link, from: next.url });
        }
      }
      await ctx.checkpoint(crawl);
      ctx.progress(crawl.pages / (crawl.pages + crawl.waiting.length + 1), next.url);
      await pause(pauseMs, undefined, { signal: ctx.abortSignal });
    }
    return { pages: crawl.pages, dead: crawl.dead };
  },
});

async function look(url: string, signal: AbortSignal): Promise<{ html: string } | { why: string }> {
  const response = await fetch(url, { signal, headers: { 'user-agent': 'longshore-example' } });
  if (response.status === 429 || response.status >= 500) {
    const { status, headers } = response;
    throw Object.assign(new Error(`${url} answered ${status}`), { status, headers });
  }
  if (!response.ok) return { why: `answered ${response.status}` };
  const isPage = response.headers.get('content-type')?.includes('text/html') ?? false;
  return { html: isPage ? await response.text() : '' };
}

/** Only of the same site: others have a right to be asked first. */
function linksOf(html: string, base: string, origin: string): string[] {
  const links = [...html.matchAll(LINK)].map(([, href = '']) => href);
  return links.flatMap((href) => {
    const url = URL.canParse(href, base) ? new URL(href, base) : null;
    return url?.origin === origin ? [url.href] : [];
  });
}
