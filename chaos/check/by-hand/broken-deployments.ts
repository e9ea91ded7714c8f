import type { Broken } from './broken-safety.ts';
import type { HistoryBuilder } from './history-builder.ts';

/** Deployment 1 is released and runs a job that names it, and 2 is released after it. */
export function twoDeployments(h: HistoryBuilder): void {
  h.beat('w1');
  h.deploy(1);
  h.job({ version: 1, pinned: 1 }).claim().start().succeed();
  h.deploy(2);
  h.job({ version: 2, pinned: 2 }).claim().start().succeed();
}

/** The promises of deployments, each broken by hand. */
export const BROKEN_DEPLOYMENTS: Broken[] = [
  {
    breaks: ['S26'],
    how: 'a job ran the code of the current release, not its own',
    make: (h) => {
      twoDeployments(h);
      const job = h.job({ version: 2 });
      h.deploy(3, { pin: true });
      job.claim().start('worker-1', 'build-3').succeed();
    },
  },
  {
    breaks: ['S26'],
    how: 'a retry got another version',
    make: (h) => {
      h.beat('w1');
      h.deploy(1, { pin: true });
      const job = h.job({ version: 1 }).claim().start().effect('throw');
      job.fail('HANDLER_ERROR', 'retrying', job.execution);
      h.deploy(2, { pin: true });
      job.version = 2;
      job.promote().claim().start().succeed();
    },
  },
  {
    breaks: ['S27'],
    how: 'a new job got a deployment that had been rolled back long before',
    make: (h) => {
      twoDeployments(h);
      h.release(1);
      h.tick(5_000);
      h.beat('w1');
      h.job({ version: 2 }).claim().start().succeed();
    },
  },
  {
    breaks: ['S27'],
    how: 'a job got another deployment than it asked for',
    make: (h) => {
      twoDeployments(h);
      h.job({ version: 2, pinned: 1 }).claim().start().succeed();
    },
  },
  {
    breaks: ['S27'],
    how: 'a job that became due got a deployment that was never released',
    make: (h) => {
      twoDeployments(h);
      h.deploy(3, { released: false, pin: true });
      h.tick(5_000);
      h.beat('w1');
      const job = h.job({ version: 0, delayMs: 1 });
      h.tick(10);
      job.version = 3;
      job.promote().claim().start().succeed();
    },
  },
  {
    breaks: ['S28'],
    how: 'an acknowledged deployment is not stored',
    make: (h) => {
      twoDeployments(h);
      h.deploy(3, { released: false, pin: true });
      h.history.deployments.pop();
      h.history.effects = h.history.effects.map(({ build, ...rest }) =>
        build === 'build-3' ? rest : { ...rest, ...(build !== undefined && { build }) },
      );
    },
  },
  {
    breaks: ['S28'],
    how: 'an acknowledged rollback was not carried out',
    make: (h) => {
      twoDeployments(h);
      h.tick(5_000);
      h.beat('w1');
      h.release(1);
      h.history.releases.pop();
    },
  },
  {
    breaks: ['S28'],
    how: 'a deployment was retired without a request',
    make: (h) => {
      twoDeployments(h);
      h.history.deployments[1]!.retired = true;
    },
  },
  {
    breaks: ['S1', 'S28'],
    how: 'an acknowledged deployment runs no jobs',
    make: (h) => {
      twoDeployments(h);
      h.deploy(3, { released: false });
      h.job({ version: 3, pinned: 3 });
    },
  },
];
