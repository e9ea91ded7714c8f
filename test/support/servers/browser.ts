import { existsSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { refuseToSkip, reportSkipped } from '../checks/extras.ts';

/** A real Chromium: the one that npm installed, or the machine's own where that one cannot run. */

const OWN = '/usr/bin/chromium';
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

export async function openBrowser(): Promise<Browser> {
  try {
    return await chromium.launch({ executablePath: await sparticuz.executablePath(), args: ARGS });
  } catch (error) {
    if (!existsSync(OWN)) {
      throw new Error('no Chromium starts here: install the package chromium', { cause: error });
    }
    return await chromium.launch({ executablePath: OWN, args: ARGS });
  }
}

/** Tries one. The browser that npm brings needs system libraries that a bare machine lacks. */
export async function browserStarts(): Promise<boolean> {
  try {
    await (await openBrowser()).close();
    return true;
  } catch (error) {
    refuseToSkip('browser tests', error);
    reportSkipped('browser tests', 'chromium');
    return false;
  }
}

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** What the browser complained about: errors of scripts, and what the policy forbade. */
  complaints: string[];
}

export async function visit(
  browser: Browser,
  { theme = 'light', height = 900 }: { theme?: 'light' | 'dark'; height?: number } = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    // Chromium without a desktop makes up a language that is none.
    locale: 'en-GB',
    colorScheme: theme,
    viewport: { width: 1360, height },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { context, page, complaints };
}
