import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { jobInState, startJob } from '../api.ts';
import { browserStarts } from './browser.ts';
import { endAll, FIXTURES, launch } from '../processes.ts';
import { quickFolder } from '../quick-folder.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Null where no browser starts: then every browser test is skipped. */
    dashboard: Shop | null;
  }
}

/** A real server with the jobs of a small shop, some of them in trouble. */
export interface Shop {
  address: string;
  /** Ids of jobs that stay as they are. */
  failed: string;
  retrying: string;
  unhandled: string;
  hostile: string;
}

export const HOSTILE = `<img src=x onerror="document.title='owned'"> "'&{{7*7}}<script>x</script>`;

export async function openShop(dataDir: string, { hostile = true } = {}): Promise<Shop> {
  const env = {
    LONGSHORE_DATA: dataDir,
    LONGSHORE_JOBS: join(FIXTURES, hostile ? 'dashboard' : 'dashboard/shop.ts'),
    LONGSHORE_UNSERVED_AFTER_MS: '1000',
    LONGSHORE_CONCURRENCY: '4',
    LONGSHORE_DRAIN_MS: '1000',
    LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  const { address } = (await launch('start', { env })).summary;
  const broken = { invoiceId: 'INV-2291', email: 'amy@down.example' };
  const failed = await startJob(address, 'billing.send-invoice', broken, {
    tags: ['eu', 'monthly'],
  });
  const retrying = await startJob(address, 'crm.sync', { account: 'acme' });
  const unhandled = await startJob(address, 'video.transcode', { file: 'talk.mp4' });
  for (const width of [320, 640, 1280]) {
    const url = `https://cdn.example/cat-${width}.png`;
    await startJob(address, 'image.resize', { url, width });
  }
  await jobInState(address, failed, 'failed');
  await jobInState(address, retrying, 'retrying');
  const harm = hostile ? await startHarm(address) : '';
  return { address, failed, retrying, unhandled, hostile: harm };
}

async function startHarm(address: string): Promise<string> {
  const id = await startJob(address, 'hostile', { text: HOSTILE }, { tags: [HOSTILE] });
  await jobInState(address, id, 'failed');
  return id;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!(await browserStarts())) {
    project.provide('dashboard', null);
    return async () => undefined;
  }
  const folder = await quickFolder('longshore-browser-');
  project.provide('dashboard', await openShop(join(folder, 'data')));
  return async () => {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  };
}
