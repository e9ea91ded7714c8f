import { systemClock } from './clock.ts';
import { type StopSignal, stopRequests } from './stop-signals.ts';

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM'];

/**
 * A signal without a listener ends a process at once, which leaves its PostgreSQL running. This
 * listener stops Longshore first; then the signal ends the process as before. A second one ends it
 * at once. It does nothing where the application has a listener of its own. Returns how to remove it.
 */
export function stopAtSignals(stop: () => Promise<void>): () => void {
  let isStopping = false;
  const onSignal = stopRequests(systemClock, (signal) => {
    if (process.listenerCount(signal) > 1) return;
    if (isStopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    isStopping = true;
    void stop().finally(() => {
      forget();
      process.kill(process.pid, signal);
    });
  });
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return forget;
}
