import { useModal } from '../parts/dialog.tsx';
import { usePreference } from '../runtime/preference.ts';
import { singleKeys } from './shortcuts.ts';
import { type NavScreen, useScreens } from './use-screens.ts';

const keysOf = (screens: readonly NavScreen[]): (readonly [keys: string, does: string])[] => [
  ['Ctrl K', 'Command palette: go to anything'],
  ['/', 'Search jobs'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open row'],
  ['x', 'Select row'],
  ['Shift x', 'Select rows up to here'],
  ...screens.map(({ key, title }) => [`g ${key}`, `Go to ${title}`] as const),
  ['?', 'Keyboard help'],
];

export function Help({ onClose }: { onClose: () => void }) {
  const ref = useModal();
  const screens = useScreens();
  const [keys, setKeys] = usePreference(singleKeys);
  return (
    <dialog ref={ref} className="dialog" aria-label="Keyboard" onClose={onClose}>
      <h2>Keyboard</h2>
      <dl className="keys">
        {keysOf(screens).map(([key, does]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="check">
        <input
          type="checkbox"
          checked={keys === 'on'}
          onChange={(event) => setKeys(event.target.checked ? 'on' : 'off')}
        />
        Enable single-key shortcuts
      </label>
      <div className="dialog-actions">
        <button type="button" onClick={() => ref.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
