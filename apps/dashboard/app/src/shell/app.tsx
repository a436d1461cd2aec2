import { NewVersion } from '@svc/chat-ui/view/new-version.tsx';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ApiFault, AwayFault, get, onProof } from '../parts/api.ts';
import { LiveProvider } from '../parts/live.tsx';
import { Fault, Skeleton } from '../parts/page.tsx';
import { ProofDialog } from '../parts/proof-dialog.tsx';
import { queryClient } from '../parts/query.ts';
import { Toasts } from '../parts/toast.tsx';
import { router } from '../routes.tsx';
import { onTokenOfOtherTab } from '../session-token.ts';
import { keepLastUser } from './last-user.ts';
import { goToLogin, type Login, LoginContext } from './login.tsx';

type Verified = { user: string; session: { id: string; proven_at: number } };
type Asked = { what: 'sign-in' | 'step-up'; settle(isProven: boolean): void };

/** The app of a person who has signed in; everyone else is sent to the sign-in page. */
export function App() {
  const [login, setLogin] = useState<Omit<Login, 'proofs'> | null>(null);
  const [fault, setFault] = useState<Error | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [proofs, setProofs] = useState(0);
  const asking = useRef<Promise<boolean> | null>(null);

  const look = useCallback(async () => {
    setFault(null);
    try {
      const { user, session } = await get<Verified>('/core/v2/auth/verify?strict=true');
      keepLastUser(user);
      setLogin({ user, sessionId: session.id, provenAt: session.proven_at });
    } catch (error) {
      if (error instanceof ApiFault && error.status === 401) goToLogin();
      else setFault(error instanceof Error ? error : new AwayFault(error));
    }
  }, []);
  useEffect(() => void look(), [look]);

  /** One dialog for all calls that wait for a sign-in. */
  const prove = useCallback(async (what: Asked['what']): Promise<boolean> => {
    asking.current ??= new Promise<boolean>((resolve) => setAsked({ what, settle: resolve })).finally(() => {
      asking.current = null;
      setAsked(null);
    });
    const isProven = await asking.current;
    if (isProven) {
      setProofs((before) => before + 1);
      void queryClient.invalidateQueries();
    }
    return isProven;
  }, []);
  useEffect(
    () =>
      onTokenOfOtherTab((token) => {
        if (token === 'new') asked?.settle(true);
        else location.replace('/login'); // nothing of the person who has signed out stays in sight
      }),
    [asked],
  );
  const isIn = login !== null;
  useEffect(() => onProof(isIn ? prove : async () => false), [isIn, prove]);
  const value = useMemo(() => (login === null ? null : { ...login, proofs }), [login, proofs]);
  const askToSignIn = useCallback(() => void prove('sign-in'), [prove]);

  if (value === null)
    return fault === null ? (
      <main className="page">
        <Skeleton />
      </main>
    ) : (
      <main className="alone">{<Fault error={fault} onRetry={() => void look()} />}</main>
    );
  return (
    <LoginContext value={value}>
      <LiveProvider user={value.user} proofs={proofs} onRefused={askToSignIn}>
        <RouterProvider router={router} />
      </LiveProvider>
      <NewVersion />
      <Toasts />
      {asked !== null && <ProofDialog what={asked.what} user={value.user} onEnd={asked.settle} />}
    </LoginContext>
  );
}
