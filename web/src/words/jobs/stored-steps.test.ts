import { expect, it } from 'vitest';
import { CHILDREN_STEP, waitChildrenStep } from '../../../../src/core/dependency/children.ts';
import { signalStep, sleepStep, waitStep } from '../../../../src/core/job/signal.ts';
import { storedSteps } from './stored-steps.ts';

it('has the steps of the code and the signals, and nothing that Longshore stores for itself', () => {
  const names = [
    'load rows',
    sleepStep('a day'),
    CHILDREN_STEP,
    waitChildrenStep(1),
    waitStep('decision'),
    signalStep('decision'),
    'save',
  ];
  const at = '2030-01-01T00:00:00.000Z';
  const steps = names.map((name) => ({ name, claim: 1, at, durationMs: null, value: 1 }));
  expect(storedSteps(steps).map(({ title }) => title)).toEqual([
    'load rows',
    'Signal decision',
    'save',
  ]);
});
