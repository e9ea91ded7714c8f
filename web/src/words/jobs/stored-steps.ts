import { isReservedStep, signalStep } from '../../../../src/core/job/signal.ts';
import type { StepView } from '../../../../src/core/views/history.ts';

/** A signal that has arrived. */
const SIGNAL = signalStep('');

/**
 * The steps of the code, and the signals that the next attempt gets. What Longshore stores for
 * itself, like a sleep, a wait or that there are children, is on the timeline and in other panels.
 */
export function storedSteps(steps: readonly StepView[]): (StepView & { title: string })[] {
  return steps.flatMap((step) => {
    const { name } = step;
    if (name.startsWith(SIGNAL)) return [{ ...step, title: `Signal ${name.slice(SIGNAL.length)}` }];
    return isReservedStep(name) ? [] : [{ ...step, title: name }];
  });
}
