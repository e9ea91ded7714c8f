import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobWorld } from '../../../../src/core/views/why-not-running.ts';

export { type Explanation, whyNotRunning } from '../../../../src/core/views/why-not-running.ts';

export interface World extends JobWorld {
  definitions: readonly PublishedDefinition[];
}
