import inspector from 'node:inspector';
import { DAY_MS } from '../core/values/duration.ts';
import { nearestName } from '../core/values/nearest.ts';
import type { JobDefinition } from '../core/definition/define.ts';
import { loadDefinitions } from '../worker/runner/load.ts';
import {
  ownSteps,
  type ReplayLine,
  type ReplayMessage,
  type ReplayRequest,
} from '../core/job/replay.ts';
import { runBatch } from './run-batch.ts';
import { runJob } from './run-job.ts';

/** The process of `longshore replay`: runs one attempt with the code of a folder, and exits. */

process.once('message', (request: ReplayRequest) => {
  void replay(request)
    .catch((error: unknown) =>
      tell({ refused: error instanceof Error ? error.message : String(error) }),
    )
    .then(() => process.disconnect());
});

function tell(message: ReplayMessage): void {
  process.send?.(message);
}

async function replay(request: ReplayRequest): Promise<void> {
  const { key, version, params, inspectPort } = request;
  if (inspectPort !== null) {
    inspector.open(inspectPort, '127.0.0.1');
    // Before the code is loaded, so that breakpoints in it are hit.
    inspector.waitForDebugger();
  }
  const { definitions, problems } = await loadDefinitions(request.jobs);
  const definition = definitionOf(definitions, key, version);
  if (!definition) {
    const near = nearestName(
      key,
      definitions.map((one) => one.key),
    );
    const hint = near === null || near === key ? '' : `: did you mean "${near}"?`;
    throw new Error(
      [
        `${request.jobs} has no definition "${key}"${hint}`,
        ...problems,
        'name its folder with --jobs',
      ].join('; '),
    );
  }
  if (definition.version !== version) {
    tell({ note: `The job ran version ${version}; the folder has version ${definition.version}.` });
  }
  const debugged = patient(definition, inspectPort !== null);
  const options = {
    jobId: request.jobId,
    attempt: request.attempt,
    maxAttempts: request.maxAttempts,
    paramsShape: request.paramsShape,
    steps: request.steps,
    checkpoint: request.checkpoint,
    parents: request.parents,
    recorded: request.children,
    secrets: request.secrets,
    onLog: (line: ReplayLine) => tell({ line }),
  };
  // A job of a group is replayed as a group of one.
  const run = debugged.info.group
    ? (await runBatch(debugged, [params], options))[0]
    : await runJob(debugged, params, options);
  if (!run) throw new Error('the job did not run');
  const { status, result, error, nextInMs, steps, children } = run;
  const spawned = children.map(({ name, definitionKey: of }) => ({ name, definitionKey: of }));
  const names = ownSteps(Object.keys(steps));
  tell({ ended: { status, result, error, nextInMs, steps: names, spawned } });
}

/** The version of the job, else the newest of its key. */
function definitionOf(
  definitions: readonly JobDefinition[],
  key: string,
  version: number,
): JobDefinition | undefined {
  const own = definitions.filter((one) => one.key === key);
  return (
    own.find((one) => one.version === version) ?? own.toSorted((a, b) => b.version - a.version)[0]
  );
}

/** A job that stands at a breakpoint is neither too slow nor silent. */
function patient(definition: JobDefinition, debugged: boolean): JobDefinition {
  if (!debugged) return definition;
  const info = { ...definition.info, timeoutMs: 20 * DAY_MS, stallTimeoutMs: null };
  return { ...definition, info };
}
