import { t } from '@svc/chat-ui/language/t.ts';
import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router';
import { Empty, Fault, Page } from './parts/page.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title={t('Not found')}>
      <Empty title={t('This page does not exist.')}>
        <Link to="/">{t('Home')}</Link>
      </Empty>
    </Page>
  ),
});

/** Filters are in the address, as text. */
const asTexts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)]));

/** The search parameters that a screen reads; missing ones are empty. */
const texts =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, typeof search[name] === 'string' ? search[name] : ''])) as Record<Name, string>;

const getParentRoute = () => root;

/** Every screen, each loaded when it is first shown. */
const tree = root.addChildren([
  createRoute({ getParentRoute, path: '/', component: lazyRouteComponent(() => import('./screens/home/home.tsx'), 'Home') }),
  createRoute({
    getParentRoute,
    path: '/chat',
    component: lazyRouteComponent(() => import('./screens/chat/chat.tsx'), 'ChatScreen'),
  }),
  createRoute({
    getParentRoute,
    path: '/welcome/$step',
    component: lazyRouteComponent(() => import('./screens/welcome/welcome.tsx'), 'Welcome'),
  }),
  createRoute({
    getParentRoute,
    path: '/sessions',
    validateSearch: texts('active', 'channel', 'text'),
    component: lazyRouteComponent(() => import('./screens/sessions/sessions.tsx'), 'Sessions'),
  }),
  createRoute({
    getParentRoute,
    path: '/sessions/$key',
    validateSearch: texts('tab', 'find'),
    component: lazyRouteComponent(() => import('./screens/sessions/session.tsx'), 'SessionScreen'),
  }),
  createRoute({
    getParentRoute,
    path: '/search',
    validateSearch: texts('q', 'days'),
    component: lazyRouteComponent(() => import('./screens/search/search.tsx'), 'SearchScreen'),
  }),
  createRoute({
    getParentRoute,
    path: '/people',
    validateSearch: texts('channel', 'sender', 'key', 'public', 'text'),
    component: lazyRouteComponent(() => import('./screens/people/people.tsx'), 'People'),
  }),
  createRoute({
    getParentRoute,
    path: '/channels',
    component: lazyRouteComponent(() => import('./screens/channels/channels.tsx'), 'Channels'),
  }),
  createRoute({
    getParentRoute,
    path: '/costs',
    validateSearch: texts('days'),
    component: lazyRouteComponent(() => import('./screens/costs/costs.tsx'), 'Costs'),
  }),
  createRoute({
    getParentRoute,
    path: '/activity',
    validateSearch: texts('tab'),
    component: lazyRouteComponent(() => import('./screens/activity/activity.tsx'), 'Activity'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'Settings'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings/$section',
    validateSearch: texts('text', 'kind'),
    component: lazyRouteComponent(() => import('./screens/settings/settings.tsx'), 'SettingsSection'),
  }),
]);

export const router = createRouter({
  routeTree: tree,
  defaultErrorComponent: ({ error, reset }) => (
    <Page title={t('This screen has failed')}>
      <Fault error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  ),
  // Plain text in the address: nothing is parsed as JSON.
  parseSearch: (search) => asTexts(Object.fromEntries(new URLSearchParams(search))),
  stringifySearch: (search) => {
    const given = Object.entries(asTexts(search)).filter(([, value]) => value !== '' && value !== 'undefined');
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
