import { countWords } from '../../words/charts/chart.ts';
import { type Heat, rowWords } from '../../words/charts/heat.ts';
import { pointWords, type Steps } from '../../words/charts/point.ts';

/** The heat map as numbers: attempts by step and run time, newest first. */
export function HeatTable({ heat, time }: { heat: Heat; time: Steps }) {
  const steps = heat.counts
    .map((counts, at) => ({ counts, at }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .toReversed();
  if (steps.length === 0) return null;
  return (
    <div
      className="scroll numbers below"
      tabIndex={0}
      role="group"
      aria-label="Heat map as a table"
    >
      <table className="rows">
        <caption className="visually-hidden">
          Attempts by step and run time, newest first, without steps in which none ended
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {heat.rows.map((row) => (
              <th key={row.from} scope="col" className="number">
                {rowWords(row)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map(({ counts, at }) => (
            <tr key={at}>
              <td className="moment">{pointWords(time, at)}</td>
              {heat.rows.map((row, index) => (
                <td key={row.from} className="number">
                  {countWords(counts[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
