import type { ReactNode } from 'react';

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /**
   * `number`: right-aligned; `short`: one line; `wide`: takes the remaining width; `track`: drawn.
   */
  kind?: 'number' | 'short' | 'wide' | 'track';
  /** Where the title is shown: always, in the table head only, or to screen readers only. */
  titled?: 'always' | 'in-head' | 'aloud';
}

/** A table. On a phone each row becomes a card whose cells repeat their titles. */
export function Rows<Row>({
  caption,
  columns,
  rows,
  keyOf,
  className = '',
}: {
  caption: string;
  /** `false` entries are skipped. */
  columns: readonly (Column<Row> | false)[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  className?: string;
}) {
  const shown = columns.filter((column) => column !== false);
  return (
    <div className="scroll">
      <table className={`rows stacks ${className}`}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {shown.map(({ title, kind = '', titled }) => (
              <th key={title} scope="col" className={kind}>
                <span className={titled === 'aloud' ? 'visually-hidden' : undefined}>{title}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ title, kind = '', titled = 'always', cell }) => (
                <td
                  key={title}
                  className={kind}
                  data-title={titled === 'always' ? title : undefined}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
