import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Moment } from '../../parts/moment.tsx';
import { JsonPanel } from '../../parts/json-panel.tsx';
import { Facts } from '../../parts/panel.tsx';
import { type ResultFact, resultFacts } from '../../words/jobs/result-fact.ts';

/** What the job returned, such as the receipt of a delivery. */
export function ResultPanel({ job: { jobId, result } }: { job: JobView }) {
  const facts = resultFacts(result);
  const [asJson, setAsJson] = useState(false);
  return (
    <JsonPanel
      title="Result"
      value={result}
      fileName={`result-${jobId}.json`}
      aside={
        facts && (
          <button type="button" className="small" onClick={() => setAsJson(!asJson)}>
            {asJson ? 'View as list' : 'View as JSON'}
          </button>
        )
      }
    >
      {facts && !asJson ? <ResultFacts facts={facts} /> : undefined}
    </JsonPanel>
  );
}

function ResultFacts({ facts }: { facts: readonly ResultFact[] }) {
  return <Facts facts={facts.map((fact) => [fact.name, <ResultValue fact={fact} />])} />;
}

function ResultValue({ fact }: { fact: ResultFact }) {
  if ('moment' in fact) return <Moment at={fact.moment} />;
  if ('facts' in fact) return <ResultFacts facts={fact.facts} />;
  if ('json' in fact) return <JsonTree value={fact.json} />;
  return <span className="result-text">{fact.text}</span>;
}
