/** The exports of `longshore/testing`: helpers for tests of jobs. */
export { assertEnqueued, enqueuedOf } from './enqueued.ts';
export { faulty, type Fault } from './faults.ts';
export { createTestRig, type TestRig, type TestRigOptions } from './rig.ts';
export { type BatchRunOptions, runBatch } from './run-batch.ts';
export { type ChildEnd, type JobRun, type RunChild, runJob, type RunOptions } from './run-job.ts';
