import { systemClock } from '../../../src/runtime/clock.ts';
import { testRunners } from './runners.ts';
import { until } from '../until.ts';

/**
 * A program that a test starts and kills: runners with one running job, whose first output it
 * prints. With a number of milliseconds it has a lease that expires.
 */
const leaseMs = Number(process.argv[2] ?? 0);
const runners = await testRunners('left');
const job = await runners.begin('lingering');
await until('the job has begun', () => job.messages.length > 0);
const [first] = job.messages;
if (leaseMs > 0) runners.watchdog.renew(systemClock.monotonicMs() + leaseMs);
process.stdout.write(`${first?.type === 'progress' ? first.message : ''}\n`);
