import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from '@tanstack/react-router';
import { Empty, Fault, Page } from './parts/page.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <Empty title="There is no such page.">
        <Link to="/">Home</Link>
      </Empty>
    </Page>
  ),
});

/** Filters stand in the address, as texts. */
const asTexts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, String(value)]));

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
    path: '/sessions',
    component: lazyRouteComponent(() => import('./screens/sessions/sessions.tsx'), 'Sessions'),
  }),
  createRoute({
    getParentRoute,
    path: '/sessions/$key',
    component: lazyRouteComponent(() => import('./screens/sessions/session.tsx'), 'SessionScreen'),
  }),
]);

export const router = createRouter({
  routeTree: tree,
  defaultErrorComponent: ({ error, reset }) => (
    <Page title="This screen has failed">
      <Fault error={error instanceof Error ? error : new Error(String(error))} onRetry={reset} />
    </Page>
  ),
  // Plain texts in the address: nothing in it is read as JSON.
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
