import { parsePosition } from '../../../../src/core/views/history-position.ts';
import type { AttemptView, EventView } from '../../../../src/core/views/history.ts';
import type { Entry, History } from './timeline.ts';

/** A step on the timeline, and the claim of its attempt. */
export interface DrawnStep {
  claim: number;
  entry: Entry;
}

/**
 * The steps that stored nothing: the one that an attempt failed in, and those that run, ran when the
 * attempt ended, or failed without being its end.
 */
export function unstoredSteps(history: History, now: Date): DrawnStep[] {
  return history.attempts.flatMap((attempt) => {
    const { claim, finishedAt, error } = attempt;
    const endMs = finishedAt === null ? now.getTime() : Date.parse(finishedAt);
    const stored = history.steps.filter((step) => step.claim === claim);
    const failed = finishedAt === null ? undefined : error?.step;
    const known = new Set([...stored, ...(failed ? [failed] : [])].map(({ name }) => name));
    const seen = startedSteps(history.events, claim)
      .filter(({ name }) => !known.has(name))
      .map((step) => unstoredStep(attempt, step, endMs));
    if (!failed) return seen;
    const fromMs = endMs - failed.untilEndMs;
    const failedAtMs = fromMs + failed.durationMs;
    return [...seen, unstoredStep(attempt, { name: failed.name, fromMs, failedAtMs }, endMs)];
  });
}

interface StartedStep {
  name: string;
  fromMs: number;
  failedAtMs: number | null;
}

function unstoredStep(attempt: AttemptView, step: StartedStep, endMs: number): DrawnStep {
  const { claim, number, startedAt } = attempt;
  const open = attempt.finishedAt === null && step.failedAtMs === null;
  const [tone, word] =
    step.failedAtMs !== null || (attempt.error !== null && !attempt.error.step)
      ? (['failed', 'Failed step'] as const)
      : open
        ? (['running', 'Running step'] as const)
        : (['stopped', 'Step not ended'] as const);
  const entry: Entry = {
    key: `step ${step.name} of claim ${claim}`,
    kind: 'step',
    tone,
    title: step.name,
    detail: `${word}, attempt ${number}`,
    fromMs: Math.max(Date.parse(startedAt), step.fromMs),
    toMs: step.failedAtMs ?? endMs,
    open,
  };
  return { claim, entry };
}

/** From the events of the steps that have run for a while. */
function startedSteps(events: readonly EventView[], claim: number): StartedStep[] {
  const started = new Map<string, StartedStep>();
  for (const { id, type, at, payload } of events) {
    if (type !== 'step' || parsePosition(id)?.[0] !== claim) continue;
    const { step: name, state } = payload as { step: string; state: string };
    const known = started.get(name);
    if (state === 'started') started.set(name, { name, fromMs: Date.parse(at), failedAtMs: null });
    else if (known) known.failedAtMs = Date.parse(at);
  }
  return [...started.values()];
}
