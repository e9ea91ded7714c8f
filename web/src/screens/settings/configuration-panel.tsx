import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { settingsQuery } from '../../api/admin-queries.ts';
import { useMay } from '../../api/use-may.ts';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Waiting } from '../../parts/screen.tsx';

/** Settings from flags, environment or file, for admins of the default tenant. */
export function ConfigurationPanel() {
  const may = useMay('admin', { ofDefaultTenant: true });
  const { data, error } = useQuery({ ...settingsQuery(), enabled: may });
  const [all, setAll] = useState(false);
  const settings = data?.settings ?? [];
  const changed = settings.filter(({ isDefault }) => !isDefault);
  if (!may) return null;
  return (
    <Panel
      title="Configuration"
      aside={
        data && (
          <>
            {changed.length} of {settings.length} differ from the default{' '}
            <button
              type="button"
              className="small"
              aria-expanded={all}
              onClick={() => setAll(!all)}
            >
              {all ? 'Show changed only' : 'Show all'}
            </button>
          </>
        )
      }
      flush
    >
      {data === undefined ? (
        <Waiting error={error} />
      ) : !all && changed.length === 0 ? (
        <p className="soft pad">Every setting has its default.</p>
      ) : (
        <Rows
          caption="Settings"
          className="settings"
          rows={all ? settings : changed}
          keyOf={({ name }) => name}
          columns={[
            { title: 'Setting', titled: 'in-head', cell: ({ name }) => <code>{name}</code> },
            {
              title: 'Value',
              cell: ({ value }) =>
                value === null ? (
                  <span className="soft">–</span>
                ) : (
                  <span className="whole-word">{value}</span>
                ),
            },
            {
              title: 'Meaning',
              titled: 'in-head',
              cell: ({ meaning }) => <Marked text={meaning} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** Renders text between backticks as code. */
function Marked({ text }: { text: string }) {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
