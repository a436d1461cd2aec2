import { useNavigate, useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { sessionBeside } from './recent-sessions.ts';
import { useShortcuts } from './use-shortcuts.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const KeySheet = lazy(async () => ({ default: (await import('./key-sheet.tsx')).KeySheet }));

/** The shortcuts of every screen, and what they open. */
export function ShortcutDialogs() {
  const [open, setOpen] = useState<'palette' | 'keys' | null>(null);
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const close = () => setOpen(null);
  const step = async (by: 1 | -1) => {
    const shown = path.startsWith(sessionsAt) ? decodeURIComponent(path.slice(sessionsAt.length)) : null;
    const key = await sessionBeside(shown, by);
    if (key !== undefined) await navigate({ to: '/sessions/$key', params: { key }, search: { tab: '' } });
  };
  useShortcuts({
    palette: () => setOpen('palette'),
    help: () => setOpen('keys'),
    go: (to) => void navigate({ to }),
    search() {
      // What was found stays until something else is looked for.
      if (path === searchAt) document.querySelector<HTMLInputElement>('#main input[type=search]')?.select();
      else void navigate({ to: searchAt });
    },
    step: (by) => void step(by),
  });
  return (
    <Suspense>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'keys' && <KeySheet onClose={close} />}
    </Suspense>
  );
}

const sessionsAt = '/sessions/';
const searchAt = '/search';
