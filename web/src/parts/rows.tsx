import type { ReactNode } from 'react';

export interface Column<Row> {
  title: string;
  /** Shown in the table head instead of the title. */
  head?: ReactNode;
  cell: (row: Row) => ReactNode;
  /**
   * `number`: right-aligned; `short`: one line; `wide`: takes the remaining width; `pick`: a
   * checkbox.
   */
  kind?: 'number' | 'short' | 'wide' | 'pick';
  /** Where the title is shown: always, in the table head only, or to screen readers only. */
  titled?: 'always' | 'in-head' | 'aloud';
  /** Left out where there is little room: on a tablet, in a column. The page of the row has it. */
  spare?: boolean;
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
            {shown.map(({ title, head, kind = '', titled, spare = false }) => (
              <th key={title} scope="col" className={spare ? `spare ${kind}` : kind}>
                {head ?? (
                  <span className={titled === 'aloud' ? 'visually-hidden' : undefined}>
                    {title}
                  </span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {shown.map(({ title, kind = '', titled = 'always', spare = false, cell }) => (
                <td
                  key={title}
                  className={spare ? `spare ${kind}` : kind}
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
