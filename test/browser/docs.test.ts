import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { DOCS_PAGES } from '../../src/http/docs/contents.ts';
import { axeFindings, phoneFindings, sharedPages } from '../support/servers/dashboard-page.ts';

/**
 * Each page of the docs in light, in dark, and on a phone: readable for everybody, and no wider than it.
 * They only read, so some are checked at the same time.
 */

const { withPage } = sharedPages();

const PAGES = ['', '/', '/search?q=retry', ...DOCS_PAGES.map((path) => `/${basename(path)}`)];

it.concurrent.each(PAGES)('/docs%s', async (path) => {
  await withPage(`/docs${path}`, async (page) => {
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(await phoneFindings(page)).toEqual([]);
  });
});

/** What remains wrong in the components of Scalar, which no setting and no style of ours changes. */
const OF_SCALAR: Record<string, RegExp> = {
  'the button that copies an example has no name': /^button-name: <button [^>]*copy-button/,
  'a long example scrolls by mouse only':
    /^scrollable-region-focusable: <div [^>]*scalar-card-content/,
};

it.concurrent('/docs/api', async () => {
  await withPage('/docs/api', async (page) => {
    await page.getByRole('heading', { name: 'Enqueue a job' }).first().waitFor();
    const isOurs = (finding: string) =>
      !Object.values(OF_SCALAR).some((pattern) => pattern.test(finding));
    expect((await axeFindings(page)).filter(isOurs)).toEqual([]);
    expect((await phoneFindings(page)).filter(isOurs)).toEqual([]);
  });
});
