import { EXPORT_FORMATS, EXPORT_ROWS_MAX } from '../../../../src/core/search/job-export.ts';
import { type Query, queryText } from '../../api/call.ts';
import { tenant } from '../../runtime/tenant.ts';
import { apiUrl } from '../../runtime/urls.ts';
import { Drop } from './drop.tsx';

/** Downloads of all jobs that match a filter. */
export function ExportMenu({ filter }: { filter: () => Query }) {
  const address = (format: string) =>
    apiUrl('/v1/jobs/export') + queryText({ format, ...filter(), tenant: tenant ?? undefined });
  return (
    <Drop label="Export">
      <ul>
        {EXPORT_FORMATS.map((format) => (
          <li key={format}>
            <a
              href={address(format)}
              download={`jobs.${format}`}
              // The window of time ends when the file is requested.
              onClick={({ currentTarget }) => (currentTarget.href = address(format))}
            >
              {format.toUpperCase()}
            </a>
          </li>
        ))}
      </ul>
      <p className="soft">
        All matching jobs, up to {EXPORT_ROWS_MAX.toLocaleString('en')}. Secrets are redacted.
      </p>
    </Drop>
  );
}
