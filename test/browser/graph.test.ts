import { describe, expect, it } from 'vitest';
import { jobInState, startJob } from '../support/api.ts';
import { axeFindings, dashboardPages } from '../support/servers/dashboard-page.ts';

const { shop, open } = dashboardPages();
const resize = { url: 'graph.png', width: 8 };
const ending = (id: string) => id.slice(-12);

describe('the graph of a job', () => {
  it('shows what is before and after it, changes with them, and leads to them', async () => {
    const first = await startJob(shop.address, 'image.resize', resize, { hold: true });
    const middle = await startJob(shop.address, 'image.resize', resize, { after: [first] });
    const last = await startJob(shop.address, 'image.resize', resize, { after: [middle] });
    const page = await open(`/jobs/${middle}`);
    const graph = page.getByRole('group', { name: 'Graph of related jobs' });
    const nodeOf = (title: string, id: string) =>
      graph.getByRole('region', { name: title }).getByRole('link', { name: ending(id) });
    await nodeOf('Runs after', first).getByText('held').waitFor();
    await nodeOf('Followed by', last).getByText('suspended').waitFor();
    expect(await axeFindings(page)).toEqual([]);

    await page.setViewportSize({ width: 390, height: 844 });
    await nodeOf('Runs after', first).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const width = 'document.documentElement.scrollWidth';
    expect(await page.evaluate<number>(width)).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1360, height: 900 });

    await fetch(`${shop.address}/v1/jobs/${first}/release`, { method: 'POST' });
    await nodeOf('Runs after', first).getByText('succeeded').waitFor();
    await nodeOf('Followed by', last).getByText('succeeded').waitFor();
    await nodeOf('Followed by', last).click();
    await page.waitForURL(new RegExp(`/jobs/${last}$`));
    await nodeOf('Runs after', middle).waitFor();
  });

  it('counts many children by state, with links to the failed ones', async () => {
    const id = await startJob(shop.address, 'catalog.build', { pages: 230, broken: 2 });
    const page = await open(`/jobs/${id}`);
    const graph = page.getByRole('group', { name: 'Graph of related jobs' });
    await graph.getByText('2 failed', { exact: true }).waitFor();
    await graph.getByText('228 succeeded', { exact: true }).waitFor();
    await page.getByText('Children: 230 of 230 ended. 2 failed · 228 succeeded').waitFor();
    await page.getByText('Related jobs as a list').click();
    await page.getByText('These are the first 200 children.').waitFor();
    await page.getByText('Related jobs as a list').click();
    await jobInState(shop.address, id, 'succeeded');
    const failed = graph.getByRole('link', { name: /^catalog\.page failed/ });
    expect(await failed.count()).toBe(2);
    expect(await axeFindings(page)).toEqual([]);
    await failed.first().click();
    await page
      .getByText(/page 229 of the catalogue has no picture/)
      .first()
      .waitFor();
    await graph.getByRole('region', { name: 'Spawned by' }).getByRole('link').waitFor();
  });
});
