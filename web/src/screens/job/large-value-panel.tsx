import type { JobView } from '../../../../src/core/job/job.ts';
import { Panel } from '../../parts/panel.tsx';
import { queryText } from '../../api/call.ts';
import { tenantOfStream } from '../../api/tenant-routes.ts';
import { apiUrl } from '../../runtime/urls.ts';
import { bytes } from '../../words/moment.ts';

/** Params or a result that is not in the database: its size, and the file. */
export function LargeValuePanel({
  job: { jobId },
  kind,
  size,
}: {
  job: JobView;
  kind: 'params' | 'result';
  size: number;
}) {
  const address = apiUrl(`/v1/jobs/${jobId}/${kind}`) + queryText({ ...tenantOfStream() });
  return (
    <Panel title={kind === 'params' ? 'Params' : 'Result'}>
      <p>Too large to show here: {bytes(size)} of JSON.</p>
      <div className="copies">
        <a className="button small" href={address} download>
          Download
        </a>
      </div>
    </Panel>
  );
}
