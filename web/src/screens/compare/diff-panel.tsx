import { JsonTree } from '../../parts/json-tree.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { jsonDiff } from '../../words/job-page/json-diff.ts';

/** The fields in which two JSON values differ. */
export function DiffPanel({ title, a, b }: { title: string; a: unknown; b: unknown }) {
  const { differences, cut } = jsonDiff(a, b);
  const count = `${differences.length}${cut ? '+' : ''}`;
  return (
    <Panel
      title={title}
      aside={`${count} ${differences.length === 1 ? 'difference' : 'differences'}`}
      flush
    >
      {differences.length === 0 ? (
        <p className="pad soft">The same in both.</p>
      ) : (
        <Rows
          caption={`${title}: differences`}
          rows={differences}
          keyOf={({ path }) => path}
          className="compared"
          columns={[
            {
              title: 'Field',
              cell: ({ path }) => <code>{path === '' ? 'whole value' : path}</code>,
            },
            { title: 'A', cell: (one) => <Side value={one.a} /> },
            { title: 'B', cell: (one) => <Side value={one.b} /> },
          ]}
        />
      )}
      {cut && <p className="pad soft">Further differences are not shown.</p>}
    </Panel>
  );
}

function Side({ value }: { value: unknown }) {
  if (value === undefined) return <span className="soft">absent</span>;
  return <JsonTree value={value} openLevels={1} />;
}
