import type { JobStarter } from 'longshore';
import { crawlPage } from './jobs/page.ts';

export interface Crawl {
  pages: number;
  attempts: number;
  dead: { url: string; from: string; why: string }[];
}

/**
 * Follows the links of a site, one job for each page. Nothing here waits between two requests: how
 * often a host is asked is up to the limits of the definition.
 */
export async function crawl(jobs: JobStarter, start: string, pagesMax = 200): Promise<Crawl> {
  const crawled: Crawl = { pages: 0, attempts: 0, dead: [] };
  const seen = new Set<string>([start]);
  // One crawl asks for a page once, also when it is killed and begun again within the minute.
  const name = new Date().toISOString().slice(0, 16);

  const visit = async (url: string, from: string): Promise<void> => {
    const options = { concurrencyKey: new URL(url).host, idempotencyKey: `${name} ${url}` };
    const job = await jobs.enqueue(crawlPage, { url }, options);
    const { status, links } = await job.result();
    const { attempts } = await job.get();
    crawled.attempts += attempts;
    if (status >= 400) crawled.dead.push({ url, from, why: `answered ${status}` });
    else crawled.pages += 1;
    const fresh = links.filter((link) => !seen.has(link) && seen.size < pagesMax);
    for (const link of fresh) seen.add(link);
    await Promise.all(fresh.map(async (link) => await visit(link, url)));
  };
  await visit(start, '');
  return crawled;
}
