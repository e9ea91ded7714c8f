import { randomUUID } from 'node:crypto';
import { type Check, expectThat, type Finding, type Named, playOne } from '../check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { callsOf } from './calls.ts';
import { DRAIN, HEARTBEATS } from './checks/heartbeats.ts';
import { LEASE_CHECKS } from './checks/leases.ts';
import { OUTCOMES } from './checks/outcomes.ts';
import { REGISTERS, TURNS } from './checks/turns.ts';
import { WorkerCommand } from './command.ts';
import { judge } from './judge.ts';
import { Player } from './player.ts';
import { Stage } from './stage.ts';

export interface WorkerRun {
  port: number;
  leaseMs: number;
  /** Starts the worker; empty: the operator does. */
  command: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** Where the output of the worker goes. */
  output: NodeJS.WritableStream | null;
  clock: Clock;
  /** The variables that the worker needs. */
  onStart(variables: Record<string, string>): void;
  onFinding(finding: Finding): void;
  /** Whether to play a check. */
  picks(check: Named): boolean;
  /** How long to wait for a call that must come. */
  patienceMs?: number;
  /** Ends the run. */
  signal: AbortSignal;
}

const ALL: readonly Check<Stage>[] = [...OUTCOMES, ...TURNS, ...HEARTBEATS, ...LEASE_CHECKS, DRAIN];
const EXIT_MS = 30_000;

/** Plays the server for a worker, and checks that it follows the rules. */
export async function checkWorker(run: WorkerRun): Promise<Finding[]> {
  const { port, leaseMs, clock } = run;
  const key = `lsk_conformance_${randomUUID()}`;
  const player = new Player({ port, key, leaseMs, clock });
  const url = await player.start();
  const stage = new Stage(player, clock, run.patienceMs);
  const variables = {
    LONGSHORE_URL: url,
    LONGSHORE_API_KEY: key,
    // A worker of our own brings its lease.
    LONGSHORE_LEASE_MS: String(leaseMs),
  };
  run.onStart(variables);
  const isOurs = run.command.length > 0;
  // A worker over HTTP has no database, and would prefer one.
  const env = { ...run.env, DATABASE_URL: undefined, ...variables };
  const command = isOurs ? new WorkerCommand(run.command, env, run.output) : null;
  const end = (how: string) => {
    stage.ended ??= `the end of the worker: ${how}`;
    player.touch();
  };
  void command?.ended.then(end);
  const stop = () => end('interrupted');
  run.signal.addEventListener('abort', stop, { once: true });
  const findings: Finding[] = [];
  const add = (finding: Finding) => {
    findings.push(finding);
    run.onFinding(finding);
  };
  try {
    // A worker that the operator starts may come later.
    if (!isOurs) await stage.until('a worker', () => stage.calls.length > 0, 86_400_000);
    for (const check of [REGISTERS, ...ALL.filter(run.picks)]) {
      const finding = await playOne(check, stage);
      add(finding);
      if (check === REGISTERS && finding.status === 'failed') return findings;
      if (stage.ended !== null) break;
      if (finding.status === 'failed') stage.reset();
    }
    const left = callsOf(stage.calls, 'leave').length > 0;
    if (command && left) add(await playOne(exits(command), stage));
    for (const finding of judge(stage.calls).filter(run.picks)) add(finding);
    return findings;
  } finally {
    run.signal.removeEventListener('abort', stop);
    command?.kill();
    await player.stop();
  }
}

function exits(command: WorkerCommand): Check<Stage> {
  return {
    rule: 2,
    check: 'ends with exit code 0 after it has left',
    play: async (stage) => {
      await stage
        .until('the end of the process', () => false, EXIT_MS)
        .catch((error: unknown) => {
          if (stage.ended === null) throw error;
        });
      const how = await command.ended;
      expectThat(how === 'exit code 0', 'exit code 0', how);
    },
  };
}
