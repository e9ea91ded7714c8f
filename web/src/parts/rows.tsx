import type { ReactNode } from 'react';

/** A column of a table: its title, and what it shows of a row. */
export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  /** `number` keeps to the right, `short` to one line, `wide` takes the room that is left, and `track` is drawn. */
  kind?: 'number' | 'short' | 'wide' | 'track';
  /** Whether the title is shown always, in the head of the table only, or only read aloud. */
  titled?: 'always' | 'in-head' | 'aloud';
}

/**
 * Every list of things. On a phone a row is no row but a small card, whose cells follow each other and
 * say their own titles where they would be riddles without.
 */
export function Rows<Row>({
  caption,
  columns,
  rows,
  keyOf,
  className = '',
}: {
  caption: string;
  /** What is false is left out. */
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
