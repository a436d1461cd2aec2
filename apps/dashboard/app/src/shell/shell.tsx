import { t } from '@svc/chat-ui/language/t.ts';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { LogOut, Menu, Monitor, Moon, Sun, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { call } from '../parts/api.ts';
import { useLive } from '../parts/live.tsx';
import { dropSessionToken } from '../session-token.ts';
import { useLogin } from './login.tsx';
import { destinations, type Destination } from './destinations.ts';
import { ShortcutDialogs } from './shortcut-dialogs.tsx';
import { keepTheme, readTheme, type Theme, themes } from './theme.ts';
import { wipeDevice } from './wipe-device.ts';

/** Loaded later: the page works without it. */
const HomeBadge = lazy(() =>
  import('../screens/home/home-badge.tsx').then(
    ({ HomeBadge: badge }) => ({ default: badge }),
    () => ({ default: () => null }),
  ),
);
/** Loads after the screen. */
const badgeAfterMs = 3000;

/** The frame of every screen: navigation, whether the data is live, and sign-out. */
export function Shell() {
  const [isMoreOpen, setMoreOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setMoreOpen(false), [path]);
  const [hasBadge, setBadge] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setBadge(true), badgeAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {t('Skip to the content')}
      </a>
      <nav
        className={isMoreOpen ? 'rail open' : 'rail'}
        aria-label={t('Screens')}
        onKeyDown={({ key }) => key === 'Escape' && setMoreOpen(false)}
      >
        <div className="rail-head">
          <img src="/icon.svg" alt="" width={28} height={28} />
          <span className="rail-name">{t('Assistant')}</span>
          <button
            type="button"
            className="icon only-narrow"
            aria-label={t('Close the list of screens')}
            onClick={() => setMoreOpen(false)}
          >
            <X aria-hidden size={20} />
          </button>
        </div>
        <ul>
          {destinations.map((destination) => (
            <li key={destination.to}>
              <Destination {...destination} />
            </li>
          ))}
        </ul>
        <RailFoot />
      </nav>
      <main id="main" className="shell-main" tabIndex={-1}>
        <Outlet />
      </main>
      <nav className="tabs" aria-label={t('Main screens')}>
        {destinations.slice(0, 3).map((destination) => (
          <Destination key={destination.to} {...destination} />
        ))}
        <button type="button" className="tab" aria-expanded={isMoreOpen} onClick={() => setMoreOpen(true)}>
          <Menu aria-hidden size={20} />
          <span>{t('More')}</span>
        </button>
      </nav>
      <ShortcutDialogs />
      <Suspense>{hasBadge && <HomeBadge />}</Suspense>
    </div>
  );
}

function Destination({ to, name, icon: Icon }: Destination) {
  return (
    <Link to={to} className="tab" activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
      <Icon aria-hidden size={20} />
      <span>{name}</span>
    </Link>
  );
}

const linkWords = { connecting: t('Connecting'), live: t('Live'), away: t('Not connected'), refused: t('Signed out') } as const;
const themeWords: Record<Theme, string> = {
  system: t('Theme: system'),
  light: t('Theme: light'),
  dark: t('Theme: dark'),
};
const themeIcons = { system: Monitor, light: Sun, dark: Moon } as const;

function RailFoot() {
  const { state } = useLive();
  const { user } = useLogin();
  const [theme, setTheme] = useState(readTheme);
  const Icon = themeIcons[theme];
  const nextTheme = () => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
    keepTheme(next);
    setTheme(next);
  };
  const signOut = async () => {
    // If the login has ended already, nothing is left to do: no dialog asks to sign in first.
    await call('POST', '/core/v2/auth/logout', { isQuiet: true }).catch(() => undefined);
    dropSessionToken();
    await wipeDevice(user);
    location.replace('/login');
  };
  return (
    <div className="rail-foot">
      <span className={`link ${state}`}>{linkWords[state]}</span>
      <button type="button" className="tab" onClick={nextTheme}>
        <Icon aria-hidden size={20} />
        <span>{themeWords[theme]}</span>
      </button>
      <button type="button" className="tab" onClick={() => void signOut()}>
        <LogOut aria-hidden size={20} />
        <span>{t('Sign out {user}', { user })}</span>
      </button>
    </div>
  );
}
