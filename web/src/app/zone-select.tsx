import { useState } from 'react';
import { Icon } from '../parts/icon.tsx';
import { usePreference } from '../runtime/preference.ts';
import { browserZone, timeZone, ZONES } from '../runtime/time-zone.ts';
import { BROWSER_ZONE } from '../words/zone.ts';

/** The time zone of all times. The hundreds of names are listed when the field is used. */
export function ZoneSelect() {
  const [chosen, choose] = usePreference(timeZone);
  const [used, setUsed] = useState(false);
  const local = `Local time (${browserZone})`;
  const others = used ? ZONES : ZONES.filter((zone) => zone === chosen);
  return (
    <div className="quiet zone">
      <Icon name="clock" />
      <select
        aria-label="Time zone"
        title={chosen === BROWSER_ZONE ? local : chosen.replaceAll('_', ' ')}
        value={chosen}
        onChange={(event) => choose(event.target.value)}
        onFocus={() => setUsed(true)}
        onPointerEnter={() => setUsed(true)}
      >
        <option value={BROWSER_ZONE}>{local}</option>
        <option value="UTC">UTC</option>
        <optgroup label="Other time zones">
          {others.map((zone) => (
            <option key={zone} value={zone}>
              {zone.replaceAll('_', ' ')}
            </option>
          ))}
        </optgroup>
      </select>
    </div>
  );
}
