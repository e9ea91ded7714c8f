import { createLongshore } from 'longshore';
import { crawlSite } from './jobs/crawl.ts';
import { startSite } from './site.ts';

/** Looks for dead links on a site; without one, on a small site that it starts first. */

const [given] = process.argv.slice(2);
const site = given === undefined ? await startSite() : null;
const url = given ?? site?.url ?? '';
const longshore = await createLongshore({
  databaseUrl: process.env['DATABASE_URL'],
  data: '.longshore/examples',
  jobs: new URL('./jobs', import.meta.url).pathname,
});
// The same site twice at the same time would be twice as impolite: the key makes it one job.
const idempotencyKey = `${url} ${new Date().toISOString().slice(0, 16)}`;
const params = { url, pauseMs: site ? 5 : 500 };
const job = await longshore.enqueue(crawlSite, params, { idempotencyKey });
const { pages, dead } = await job.result();
const { attempts } = await job.get();
console.log(`${pages} pages, ${dead.length} dead links, ${attempts} attempts`);
for (const link of dead) console.log(`${link.url} ${link.why}, linked from ${link.from}`);
await longshore.stop();
await site?.stop();
