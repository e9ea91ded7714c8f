import { type ReactNode, useState } from 'react';

/** A button for each range, and one that opens a form for any other. The choice is in the URL. */
export function RangeButtons<Name extends string>({
  label,
  ranges,
  chosen,
  custom,
  onChoose,
  form,
}: {
  label: string;
  ranges: Record<Name, { title: string }>;
  /** Null: a range of the form. */
  chosen: Name | null;
  /** The words of a range of the form. */
  custom: string;
  onChoose: (range: Name) => void;
  form: (close: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="ranges" role="group" aria-label={label}>
      {(Object.keys(ranges) as Name[]).map((range) => (
        <button
          key={range}
          type="button"
          className="small"
          aria-pressed={range === chosen}
          onClick={() => {
            setOpen(false);
            onChoose(range);
          }}
        >
          {ranges[range].title}
        </button>
      ))}
      <button
        type="button"
        className="small"
        aria-pressed={chosen === null}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {chosen === null ? custom : 'Custom…'}
      </button>
      {isOpen && form(() => setOpen(false))}
    </div>
  );
}
