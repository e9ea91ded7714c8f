import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { type Completion, completionsAt } from '../../../../src/core/search/complete.ts';
import { NO_VALUES, searchValuesQuery } from '../../api/search-queries.ts';

/** A search with completion: a combobox whose list stands below the field. */
export function SearchField({
  text: given,
  label,
  placeholder,
  onSearch,
}: {
  text: string;
  label: string;
  placeholder: string;
  /** Returns what is wrong with the text, if anything. */
  onSearch: (text: string) => string | null;
}) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(given);
  const [caret, setCaret] = useState(given.length);
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const [problem, setProblem] = useState<string | null>(null);
  const [used, setUsed] = useState(false);
  const { data: values = NO_VALUES } = useQuery({ ...searchValuesQuery(), enabled: used });
  const { from, to, options } = completionsAt(text, caret, values);
  const shown = open ? options : [];

  const edit = (next: string, at: number) => {
    setText(next);
    setCaret(at);
    setActive(-1);
    setProblem(null);
  };
  const submit = (typed: string) => {
    setOpen(false);
    setActive(-1);
    setProblem(onSearch(typed));
  };
  const take = (option: Completion) => {
    const next = text.slice(0, from) + option.text + text.slice(to);
    const at = from + option.text.length;
    edit(next, at);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
    field.current?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const option = shown[active];
    if (step !== 0) {
      setOpen(true);
      const count = options.length + 1;
      setActive(((active + 1 + step + count) % count) - 1);
    } else if (event.key === 'Escape' && open) setOpen(false);
    else if ((event.key === 'Enter' || event.key === 'Tab') && option) take(option);
    else return;
    event.preventDefault();
  };
  return (
    <form
      role="search"
      className="search"
      onSubmit={(event) => {
        event.preventDefault();
        submit(text);
      }}
    >
      <label className="visually-hidden" htmlFor="search">
        {label}
      </label>
      <input
        id="search"
        ref={field}
        type="search"
        role="combobox"
        value={text}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        aria-autocomplete="list"
        aria-expanded={shown.length > 0}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown[active] ? `${id}-${active}` : undefined}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-problem`}
        onChange={({ target }) => {
          edit(target.value, target.selectionStart ?? target.value.length);
          setOpen(true);
          // The cross of the field clears the search.
          if (target.value === '' && given !== '') submit('');
        }}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? text.length)}
        onFocus={() => setUsed(true)}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKey}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label="Suggestions"
        className="suggestions"
        hidden={shown.length === 0}
      >
        {shown.map((option, at) => (
          <li
            key={option.text}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            // The field keeps the focus.
            onPointerDown={(event) => {
              event.preventDefault();
              take(option);
            }}
          >
            <strong>{option.text}</strong>
            {option.hint !== null && <span className="soft"> {option.hint}</span>}
          </li>
        ))}
      </ul>
      {problem !== null && (
        <p id={`${id}-problem`} className="wrong" role="alert">
          Invalid search: {problem}
        </p>
      )}
    </form>
  );
}
