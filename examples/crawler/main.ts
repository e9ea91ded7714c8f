import { createLongshore } from 'longshore';
import { crawl } from './crawl.ts';
import { startSite } from './site.ts';

/** Looks for dead links on some sites; without any, on two small ones that it starts first. */

const given = process.argv.slice(2);
const sites = given.length === 0 ? [await startSite(), await startSite()] : [];
const urls = given.length === 0 ? sites.map((site) => site.url) : given;
const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
});
// All at once: each host has a rate of its own.
const crawls = await Promise.all(urls.map(async (url) => await crawl(longshore, url)));
for (const { pages, attempts, dead } of crawls) {
  console.log(`${pages} pages, ${dead.length} dead links, ${attempts} attempts`);
  for (const link of dead) console.log(`${link.url} ${link.why}, linked from ${link.from}`);
}
await longshore.stop();
for (const site of sites) await site.stop();
