/** What `import … from 'longshore/testing'` gives: helpers for the tests of people who write jobs. */
export { assertEnqueued, enqueuedOf } from './enqueued.ts';
export { faulty, type Fault } from './faults.ts';
export { createTestRig, type TestRig, type TestRigOptions } from './rig.ts';
export { type JobRun, runJob, type RunOptions } from './run-job.ts';
