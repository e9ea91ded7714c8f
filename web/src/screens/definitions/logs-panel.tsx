import { useState } from 'react';
import { useOffered } from '../../api/signal-queries.ts';
import { useDefinitionTail } from '../../api/use-definition-tail.ts';
import { SearchedLog } from '../../parts/log/searched-log.tsx';
import { Panel } from '../../parts/panel.tsx';

/** The log of all jobs of the definition, read only while it is open. */
export function LogsPanel({ definitionKey }: { definitionKey: string }) {
  const [open, setOpen] = useState(false);
  if (!useOffered('/v1/definitions/{key}/logs')) return null;
  return (
    <Panel
      title="Log of all jobs"
      flush
      aside={
        <button type="button" className="small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Close log' : 'Follow log'}
        </button>
      }
    >
      {open ? (
        <Tail definitionKey={definitionKey} />
      ) : (
        <p className="soft pad">Follow what all jobs of this definition write, live.</p>
      )}
    </Panel>
  );
}

function Tail({ definitionKey }: { definitionKey: string }) {
  const { lines, dropped, state } = useDefinitionTail(definitionKey, true);
  if (lines.length === 0) {
    return (
      <p className="soft pad" role="status">
        {state === 'live'
          ? 'No log output in the last hour. Waiting…'
          : 'Connection lost, reconnecting.'}
      </p>
    );
  }
  return (
    <SearchedLog
      label={`Log of all jobs of ${definitionKey}`}
      lines={lines}
      fileName={`${definitionKey}.log`}
    >
      {dropped > 0 && (
        <p className="soft pad">{dropped.toLocaleString('en')} earlier lines are not shown.</p>
      )}
    </SearchedLog>
  );
}
