import { defineJob } from 'longshore';
import { z } from 'zod';

const LINK = /<a\s[^>]*href\s*=\s*["']([^"'#]+)/gi;

/**
 * Looks at one page. The host is the concurrency key, so the limits below hold for each host, however
 * many workers there are and however many sites are crawled: two requests at a time, five a second. A
 * 429 or a 5xx fails the attempt, and the job waits as long as the Retry-After says.
 */
export const crawlPage = defineJob({
  key: 'crawl.page',
  owner: 'team-web',
  params: z.object({ url: z.url() }),
  concurrencyKeyLimit: 2,
  keyRateLimit: { limit: 5, perMs: 1_000 },
  maxAttempts: 10,
  timeoutSeconds: 30,
  async run({ url }, ctx) {
    const response = await fetch(url, {
      signal: ctx.abortSignal,
      headers: { 'user-agent': 'longshore-example' },
    });
    const { status, headers } = response;
    if (status === 429 || status >= 500) {
      throw Object.assign(new Error(`${url} answered ${status}`), { status, headers });
    }
    const isPage = response.ok && headers.get('content-type')?.includes('text/html');
    return { status, links: isPage ? linksOf(await response.text(), url) : [] };
  },
});

/** Only of the same site: others have a right to be asked first. */
function linksOf(html: string, base: string): string[] {
  const found = [...html.matchAll(LINK)].flatMap(([, href = '']) => {
    const url = URL.canParse(href, base) ? new URL(href, base) : null;
    return url?.origin === new URL(base).origin ? [url.href] : [];
  });
  return [...new Set(found)];
}
