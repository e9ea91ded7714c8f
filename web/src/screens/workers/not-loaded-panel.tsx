import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { Panel } from '../../parts/panel.tsx';
import { plainText } from '../../words/jobs/log-tail.ts';
import { notLoadedFiles } from '../../words/workers/not-loaded.ts';

/** Files of definitions that live workers could not load; their jobs wait. */
export function NotLoadedPanel({ workers }: { workers: readonly WorkerView[] }) {
  const files = notLoadedFiles(workers);
  if (files.length === 0) return null;
  return (
    <div className="below">
      <Panel title="Definitions that could not be loaded">
        <ul className="mini">
          {files.map(({ subject, reason, where }, index) => (
            <li key={index}>
              <span className="mini-whole">
                {subject !== null && <strong>{plainText(subject)} </strong>}
                <code>{plainText(reason)}</code>
              </span>
              <span className="soft mini-whole">{where}</span>
            </li>
          ))}
        </ul>
        <p className="soft">
          Jobs of these files wait until a worker has loaded them. Correct the file, or set what it
          misses; then restart the worker or drain it.
        </p>
      </Panel>
    </div>
  );
}
