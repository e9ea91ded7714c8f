import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { useConnection } from '../api/connection.ts';
import { offersQuery } from '../api/queries.ts';
import { useSignInDemanded } from '../api/session.ts';
import { useChangeFeed } from '../api/use-change-feed.ts';
import { BulkAsk } from '../parts/bulk/bulk-ask.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { Icon } from '../parts/icon.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { environment } from '../runtime/environment.ts';
import { tenant } from '../runtime/tenant.ts';
import { apiUrl } from '../runtime/urls.ts';
import { usePreference } from '../runtime/preference.ts';
import { theme, THEMES } from '../runtime/theme.ts';
import { timeZone } from '../runtime/time-zone.ts';
import { ChooseTenant } from '../parts/choose-tenant.tsx';
import { Help } from './help.tsx';
import { Palette } from './palette.tsx';
import { useShortcuts } from './shortcuts.ts';
import { NavCount } from './nav-count.tsx';
import { SignIn } from './sign-in.tsx';
import { SignOut } from './sign-out.tsx';
import { TenantSwitch } from './tenant-switch.tsx';
import { UnknownTenant, useUnknownTenant } from './unknown-tenant.tsx';
import { useScreens } from './use-screens.ts';
import { ZoneSelect } from './zone-select.tsx';

/** The frame around all screens: menu, connection state, change feed, dialogs. */
export function Shell() {
  const { helping, setHelping, commanding, setCommanding } = useShortcuts();
  const demanded = useSignInDemanded();
  const offers = useOffers();
  const zone = timeZone.use();
  useChangeFeed(!demanded && offers.includes('/v1/stream'));
  return (
    <div className="shell">
      <button
        type="button"
        className="skip"
        onClick={() => document.querySelector('main')?.focus()}
      >
        Skip to content
      </button>
      <Menu
        onHelp={() => setHelping(true)}
        onCommand={() => setCommanding(true)}
        signedIn={!demanded}
      />
      <main tabIndex={-1} key={zone}>
        {demanded ? <SignIn /> : <Content />}
      </main>
      <Toasts />
      <BulkAsk />
      <ShownOnce />
      {helping && <Help onClose={() => setHelping(false)} />}
      {commanding && !demanded && (
        <Palette onClose={() => setCommanding(false)} onHelp={() => setHelping(true)} />
      )}
    </div>
  );
}

function Content() {
  const unknown = useUnknownTenant();
  return unknown === null ? <Outlet /> : <UnknownTenant known={unknown.known} />;
}

/** Collapses to the name and the connection state on a narrow screen. */
function Menu({
  onHelp,
  onCommand,
  signedIn,
}: {
  onHelp: () => void;
  onCommand: () => void;
  signedIn: boolean;
}) {
  const [open, setOpen] = useState(false);
  const fold = () => setOpen(false);
  const screens = useScreens();
  return (
    <nav className="menu" aria-label="Screens" data-open={open}>
      <div className="menu-bar">
        <Link to="/" className="brand" onClick={fold}>
          <Mark />
          Longshore
        </Link>
        {environment && (
          <p className={`environment color-${environment.color}`}>{environment.name}</p>
        )}
        {tenant !== null && <p className="menu-tenant">{tenant}</p>}
        <LiveDot />
        <button
          type="button"
          className="menu-button"
          aria-expanded={open}
          aria-controls="menu-parts"
          onClick={() => setOpen(!open)}
        >
          <Icon name="jobs" />
          Menu
        </button>
      </div>
      <div className="menu-parts" id="menu-parts">
        {signedIn && <TenantSwitch />}
        {signedIn && <ChooseTenant className="quiet" />}
        {signedIn && (
          <button type="button" className="go-to" onClick={onCommand}>
            <Icon name="search" />
            Go to… <kbd>Ctrl K</kbd>
          </button>
        )}
        <ul>
          {screens.map(({ to, title, icon, ...screen }) => (
            <li key={to}>
              <Link
                to={to}
                onClick={fold}
                activeOptions={{ exact: to === '/', includeSearch: false }}
              >
                <Icon name={icon} />
                {title}
                {signedIn && 'count' in screen && <NavCount of={screen.count} />}
              </Link>
            </li>
          ))}
        </ul>
        <div className="menu-foot">
          <ThemeButton />
          <ZoneSelect />
          <button type="button" className="quiet" onClick={onHelp}>
            <Icon name="keyboard" />
            Keyboard
          </button>
          <a className="quiet" href={apiUrl('/docs')}>
            <Icon name="docs" />
            Docs
          </a>
          {signedIn && <SignOut />}
        </div>
      </div>
    </nav>
  );
}

/** Paths that the server offers; not requested before sign-in. */
function useOffers(): string[] {
  const demanded = useSignInDemanded();
  return useQuery({ ...offersQuery(), enabled: !demanded }).data ?? [];
}

function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M9 8v16h14" />
      <path className="crate" d="M15.500 9.500h7.500v8h-7.500z" />
    </svg>
  );
}

const CONNECTION_WORDS = {
  live: 'Live',
  reconnecting: 'Reconnecting',
  lost: 'Server unreachable, retrying',
};

function LiveDot() {
  const state = useConnection();
  return (
    <p className={`live live-${state}`} role="status">
      {CONNECTION_WORDS[state]}
    </p>
  );
}

function ThemeButton() {
  const [chosen, choose] = usePreference(theme);
  const next = THEMES[(THEMES.indexOf(chosen) + 1) % THEMES.length] ?? 'system';
  return (
    <button type="button" className="quiet" onClick={() => choose(next)}>
      <Icon name={chosen} />
      Theme: {chosen}
    </button>
  );
}
