import { backlog } from './backlog.ts';
import { blockedBacklog } from './blocked-backlog.ts';
import { bulk } from './bulk.ts';
import { delayed } from './delayed.ts';
import { drains } from './drains.ts';
import { deployed } from './isolation/deployed.ts';
import { drainFresh } from './isolation/drain-fresh.ts';
import { drainProcess } from './isolation/drain-process.ts';
import { enqueues } from './enqueue.ts';
import { failures } from './failures.ts';
import { fairness } from './fairness.ts';
import { history } from './history.ts';
import { http } from './over-http/http.ts';
import { idle } from './idle.ts';
import { isolation } from './isolation/isolation.ts';
import { latencyIdle } from './latency-idle.ts';
import { mixed } from './mixed.ts';
import { peak } from './peak.ts';
import { schedules } from './schedules.ts';
import { remote } from './over-http/remote.ts';
import { remote500 } from './over-http/remote-500.ts';
import { remoteIdle } from './over-http/remote-idle.ts';
import { sdks } from './over-http/sdk.ts';
import { startup } from './startup.ts';
import { steady500 } from './steady-500.ts';
import { wal } from './wal.ts';
import type { Workload } from './workload.ts';
import { xminHeld } from './xmin-held.ts';

export const WORKLOADS: readonly Workload[] = [
  ...enqueues,
  ...sdks,
  remote,
  remote500,
  remoteIdle,
  bulk,
  ...drains,
  failures,
  mixed,
  drainProcess,
  drainFresh,
  deployed,
  isolation,
  latencyIdle,
  steady500,
  backlog,
  blockedBacklog,
  fairness,
  xminHeld,
  history,
  wal,
  http,
  peak,
  delayed,
  schedules,
  startup,
  idle,
];
