import { rootCause } from '../../../../src/core/failure/dead-letter.ts';
import { errorWords } from '../../../../src/core/failure/failure-words.ts';
import { fingerprintOf, normalMessage } from '../../../../src/core/failure/fingerprint.ts';
import type { FailedStep, JobError, JobView } from '../../../../src/core/job/job.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { AttemptView, StepView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { bytes, momentWithMs } from '../moment.ts';
import { sentenceCase } from '../jobs/job-words.ts';
import { plainText } from '../jobs/log-tail.ts';
import { processWords } from './attempt-words.ts';
import { outcomeWords } from './timeline.ts';

/** One attempt of a job, as one side of a comparison. A job that never ran has no attempt. */
export interface Run {
  job: JobView;
  attempt: AttemptView | null;
  steps: readonly StepView[];
  worker: WorkerView | undefined;
}

export interface ComparedFact {
  name: string;
  a: string;
  b: string;
  differs: boolean;
}

/** The facts of two runs. Those that always differ, such as times, are not marked. */
export function comparedFacts(a: Run, b: Run): ComparedFact[] {
  return FACTS.map(([name, of, kind]) => {
    const [ofA, ofB] = [of(a), of(b)];
    if (kind === 'error' && ofA !== ofB && isSameError(errorOf(a), errorOf(b))) {
      return { name, a: ofA, b: `the same error: ${ofB}`, differs: false };
    }
    return { name, a: ofA, b: ofB, differs: kind !== 'always differs' && ofA !== ofB };
  }).filter((fact) => fact.a !== NONE || fact.b !== NONE);
}

const NONE = '–';

type FactOf = readonly [name: string, of: (run: Run) => string, kind?: 'always differs' | 'error'];

const FACTS: readonly FactOf[] = [
  ['Outcome', ({ attempt, job }) => (attempt ? outcomeWords(attempt) : sentenceCase(job.status))],
  ['Error', (run) => wordsOf(errorOf(run)), 'error'],
  [
    'Started',
    ({ attempt }) => (attempt ? momentWithMs(attempt.startedAt) : NONE),
    'always differs',
  ],
  ['Claim to end', ({ attempt }) => length(attempt?.durationMs), 'always differs'],
  ['CPU time', ({ attempt }) => length(attempt?.cpuMs), 'always differs'],
  [
    'Peak memory',
    ({ attempt }) => (attempt?.peakRssBytes ? bytes(attempt.peakRssBytes) : NONE),
    'always differs',
  ],
  ['Version', ({ attempt, job }) => String(attempt?.definitionVersion ?? job.definitionVersion)],
  ['Worker', ({ worker, attempt }) => worker?.host ?? attempt?.workerId ?? NONE],
  ['Process', ({ attempt }) => (attempt && processWords(attempt)) ?? NONE],
  ['Priority', ({ job }) => String(job.priority)],
  ['Tags', ({ job }) => job.tags.join(', ') || NONE],
  ['Attempts', ({ job }) => `${job.attempts} of ${job.maxAttempts}`],
];

function errorOf({ attempt, job }: Run): JobError | null {
  return attempt ? attempt.error : job.error;
}

function wordsOf(error: JobError | null): string {
  return error === null ? NONE : plainText(errorWords(error));
}

/** The fingerprint leaves out causes, which may differ below the same message. */
function isSameError(a: JobError | null, b: JobError | null): boolean {
  if (a === null || b === null) return false;
  return fingerprintOf(a) === fingerprintOf(b) && causeOf(a) === causeOf(b);
}

function causeOf(error: JobError): string {
  return normalMessage(rootCause(error) ?? '');
}

function length(lengthMs: number | null | undefined): string {
  return lengthMs === null || lengthMs === undefined ? NONE : duration(lengthMs);
}

export interface ComparedStep {
  name: string;
  a: string;
  b: string;
}

/** The steps of both runs by name, in the order of the first one that has them. */
export function comparedSteps(a: Run, b: Run): ComparedStep[] {
  const steps = [...stepsOf(a), ...failedStep(a), ...stepsOf(b), ...failedStep(b)];
  const names = new Set(steps.map(({ name }) => name));
  return [...names].map((name) => ({ name, a: stepWords(a, name), b: stepWords(b, name) }));
}

/** Those that an attempt ran; an earlier one may have stored others, which it reuses. */
function stepsOf({ attempt, steps }: Run): StepView[] {
  return steps.filter(({ claim }) => attempt !== null && claim <= attempt.claim);
}

function failedStep({ attempt }: Run): FailedStep[] {
  return attempt?.error?.step ? [attempt.error.step] : [];
}

function stepWords(run: Run, name: string): string {
  const step = stepsOf(run).find((one) => one.name === name);
  const failed = failedStep(run).find((one) => one.name === name);
  if (failed && !step) return `failed after ${duration(failed.durationMs)}`;
  if (!step) return 'not stored';
  return step.claim === run.attempt?.claim ? length(step.durationMs) : 'reused';
}

/** "1.2 s more (3.4 times)": how the second duration differs from the first. */
export function durationChange(aMs: number | null, bMs: number | null): string | null {
  if (aMs === null || bMs === null || aMs === bMs) return null;
  const words = `${duration(Math.abs(bMs - aMs))} ${bMs > aMs ? 'more' : 'less'}`;
  const times = aMs === 0 ? 0 : bMs / aMs;
  return times >= 1.5 ? `${words} (${times.toFixed(1)} times)` : words;
}
