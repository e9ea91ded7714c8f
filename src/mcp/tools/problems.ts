import type { Problem, Seen } from '../../core/problems/problem.ts';
import { problemsOf } from '../../core/problems/problems.ts';
import type { PublishedDefinition } from '../../client/index.ts';
import { clamp } from '../text/clamp.ts';
import { type Facts, facts } from '../text/facts.ts';
import { helpFor } from '../text/next-step.ts';
import { ownersOf } from '../text/owners.ts';

const TEXT_MAX = 300;

const NEXT_STEPS: Record<Exclude<Problem['kind'], 'failed' | 'alert'>, string> = {
  stuck: 'See with job_log what it did last; cancel it if it hangs.',
  waiting: 'See with explain_job why the job waits.',
  paused: 'Resume it to run its jobs.',
  worker: 'Find out why, and start it again with "npx longshore worker".',
  tenant: 'Ask again with a client of that tenant.',
  webhook:
    'Check that its receiver runs; "npx longshore webhooks deliveries ID" shows what it answered.',
  schedule: 'See its last runs with list_schedules; check that a scheduler runs.',
};

/** The problems of the dashboard's overview, each with what to do and what to ask about next. */
export function describeProblems(
  seen: Seen & { definitions: readonly PublishedDefinition[] },
  now: Date,
): Facts[] {
  return problemsOf(seen, now).map((problem) => {
    const { kind, about, text, target, owner, code } = problem;
    const keys = about === null ? [] : about.split(', ');
    const known = ownersOf(keys, seen.definitions);
    return facts({
      problem: clamp(about === null ? text : `${about}: ${text}`, TEXT_MAX),
      ...known,
      ...(owner !== null && { owner }),
      ...idsOf(target),
      nextStep: nextStepOf(kind, code),
    });
  });
}

function nextStepOf(kind: Problem['kind'], code: string | undefined): string | null {
  if (kind === 'alert') return null;
  if (kind === 'failed') return code === undefined ? 'See find_failures.' : helpFor(code);
  return NEXT_STEPS[kind];
}

function idsOf(target: Problem['target']): Facts {
  switch (target.at) {
    case 'job':
      return { jobId: target.jobId };
    case 'dead-letters':
      return { fingerprint: target.fingerprint };
    case 'schedule':
      return { scheduleId: target.scheduleId };
    case 'webhook':
      return { webhookId: target.webhookId };
    case 'definition':
      return { definitionKey: target.key };
    case 'usage':
      return { definitionKey: target.definitionKey };
    case 'jobs':
    case 'workers':
    case 'tenants':
    case 'tenant':
    case 'tenant-limit':
    case 'alerts':
      return {};
  }
}
