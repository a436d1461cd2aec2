import { createContext, useContext } from 'react';

/** Who has signed in here. `provenAt`: when a second factor was last shown, epoch ms. `proofs`: how often they have proven it over this page: streams are opened again then. */
export type Login = { user: string; sessionId: string; provenAt: number; proofs: number };

export const LoginContext = createContext<Login>({ user: '', sessionId: '', provenAt: 0, proofs: 0 });
export const useLogin = (): Login => useContext(LoginContext);

/** To the page where one signs in, and back here. */
export function leaveToLogin(): void {
  location.replace(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
