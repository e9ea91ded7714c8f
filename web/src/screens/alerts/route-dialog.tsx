import { useState } from 'react';
import { ALERT_RULE_NAMES, type AlertRuleName } from '../../../../src/core/alert/alert.ts';
import { parseHours, type Weekday, WEEKDAYS } from '../../../../src/core/alert/quiet-hours.ts';
import {
  ALERT_CHANNELS,
  type AlertChannel,
  type AlertRouteView,
  GROUP_SECONDS_DEFAULT,
  type SavedRouteView,
} from '../../../../src/core/alert/route.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Choices } from '../../parts/choices.tsx';
import { toasts } from '../../parts/toasts.tsx';
import { shownZone } from '../../words/zone.ts';
import { namesIn, wordsIn } from '../../words/alerts/route-words.ts';

/** The fields as they are typed. */
function typedOf(route: AlertRouteView | null) {
  const hours = route?.quietHours ?? null;
  return {
    name: route?.name ?? '',
    channel: route?.channel ?? 'email',
    to: route?.to.join(', ') ?? '',
    url: '',
    rules: route?.rules ?? ([] as AlertRuleName[]),
    owners: route?.owners?.join(', ') ?? '',
    keys: route?.definitionKeys?.join(', ') ?? '',
    hours: hours === null ? '' : `${hours.from}-${hours.to}`,
    timezone: hours?.timezone ?? shownZone(),
    days: hours?.days ?? [...WEEKDAYS],
    group: String(route?.groupSeconds ?? GROUP_SECONDS_DEFAULT),
    enabled: route?.enabled ?? true,
  };
}

type Typed = ReturnType<typeof typedOf>;

function bodyOf(typed: Typed): object {
  const { channel, rules, timezone, days, enabled } = typed;
  const hours = parseHours(typed.hours);
  return {
    channel,
    ...(channel === 'email' && { to: wordsIn(typed.to) ?? [] }),
    ...(channel !== 'email' && typed.url.trim() !== '' && { url: typed.url.trim() }),
    rules: rules.length === 0 ? null : rules,
    owners: namesIn(typed.owners),
    definitionKeys: wordsIn(typed.keys),
    quietHours: hours && {
      ...hours,
      timezone,
      days: days.length === WEEKDAYS.length ? null : days,
    },
    groupSeconds: Number(typed.group),
    enabled,
  };
}

/** By the name in the API. */
const LABELS = {
  to: 'E-mail addresses',
  url: 'URL of the incoming webhook',
  owners: 'Only these owners',
  definitionKeys: 'Only these definitions',
  quietHours: 'Quiet hours',
  groupSeconds: 'Group alerts within (seconds)',
};

export function RouteDialog({
  route,
  onClose,
}: {
  route: AlertRouteView | null;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(() => typedOf(route));
  const [wrong, setWrong] = useState<string | null>(null);
  const set = (change: Partial<Typed>) => setTyped((before) => ({ ...before, ...change }));
  const save = useAsked(
    async () =>
      await call<SavedRouteView>('PUT', `/v1/alerts/routes/${encodeURIComponent(typed.name)}`, {
        body: bodyOf(typed),
      }),
    ({ warnings }) => {
      for (const warning of warnings) toasts.add('bad', `Route saved. ${warning}`);
      return warnings.length > 0 ? null : 'Route saved.';
    },
  );
  const confirm = () => {
    setWrong(null);
    if (typed.name.trim() === '') setWrong('Enter a name.');
    else if (typed.hours.trim() !== '' && parseHours(typed.hours) === null) {
      setWrong('Quiet hours look like 22:00-07:00.');
    } else return save(undefined);
    return 'stay' as const;
  };
  const field = (
    label: string,
    key: 'name' | 'to' | 'url' | 'owners' | 'keys' | 'hours' | 'timezone' | 'group',
    placeholder = '',
  ) => (
    <label className="field">
      <span>{label}</span>
      <input
        value={typed[key]}
        placeholder={placeholder}
        autoComplete="off"
        disabled={key === 'name' && route !== null}
        onChange={(event) => set({ [key]: event.target.value })}
      />
    </label>
  );
  return (
    <Ask
      title={route === null ? 'Add route' : `Route ${route.name}`}
      confirm="Save"
      tone="primary"
      onConfirm={confirm}
      labels={LABELS}
      onClose={onClose}
    >
      {field('Name', 'name', 'on-call')}
      <label className="field">
        <span>Channel</span>
        <select
          value={typed.channel}
          onChange={(event) => set({ channel: event.target.value as AlertChannel })}
        >
          {ALERT_CHANNELS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {typed.channel === 'email'
        ? field(LABELS.to, 'to', 'oncall@example.com')
        : field(LABELS.url, 'url', urlHint(route, typed.channel))}
      {field(LABELS.owners, 'owners', 'all')}
      {field(LABELS.definitionKeys, 'keys', 'all')}
      {field(LABELS.quietHours, 'hours', 'none, or 22:00-07:00')}
      {typed.hours.trim() !== '' && (
        <>
          {field('Time zone', 'timezone')}
          <Choices<Weekday>
            legend="Days on which they begin"
            names={WEEKDAYS}
            chosen={typed.days}
            onChange={(days) => set({ days })}
          />
        </>
      )}
      {field(LABELS.groupSeconds, 'group')}
      <details>
        <summary>Only some rules</summary>
        <Choices<AlertRuleName>
          legend="Rules (none: all)"
          names={ALERT_RULE_NAMES}
          chosen={typed.rules}
          onChange={(rules) => set({ rules })}
        />
      </details>
      <label className="check">
        <input
          type="checkbox"
          checked={typed.enabled}
          onChange={(event) => set({ enabled: event.target.checked })}
        />
        Enabled
      </label>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}

function urlHint(route: AlertRouteView | null, channel: AlertChannel): string {
  return route?.channel === channel ? `unchanged (${route.urlHost})` : 'https://…';
}
