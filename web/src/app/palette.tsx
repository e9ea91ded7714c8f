import { type KeyboardEvent, useId, useState } from 'react';
import { useModal } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { bestItems } from '../words/palette.ts';
import { type PaletteEntry, usePaletteEntries } from './palette-entries.ts';

/** Ctrl-K or Cmd-K: go to anything by its name, or do something. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const ref = useModal();
  const id = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { entries, searching } = usePaletteEntries(text, onHelp);
  const found = bestItems(entries, text);
  const chosen = Math.min(at, found.length - 1);
  const close = () => ref.current?.close();
  const choose = (entry: PaletteEntry | undefined) => {
    if (!entry) return;
    close();
    entry.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') choose(found[chosen]);
    else if (event.key === 'ArrowDown') setAt((chosen + 1) % Math.max(1, found.length));
    else if (event.key === 'ArrowUp')
      setAt((chosen - 1 + found.length) % Math.max(1, found.length));
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={ref} className="dialog palette" aria-label="Command palette" onClose={onClose}>
      <div className="palette-input">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Go to or do"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          placeholder="Screen, definition, schedule, worker, job id, action"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <ul role="listbox" id={`${id}-list`} aria-label="Results">
        {found.map((entry, index) => (
          <li
            key={entry.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            ref={(element) => {
              if (index === chosen) element?.scrollIntoView({ block: 'nearest' });
            }}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(entry)}
          >
            <span className="palette-title">{entry.title}</span>
            {entry.detail !== undefined && <span className="soft">{entry.detail}</span>}
            <span className="palette-kind">{entry.kind}</span>
          </li>
        ))}
      </ul>
      <p className="soft pad" role="status">
        {found.some(({ kind }) => kind !== 'Search')
          ? ''
          : searching
            ? 'Searching…'
            : 'Nothing has this name.'}
      </p>
    </dialog>
  );
}
