import { createContext, useContext } from 'react';

/** Who has signed in here. `provenAt`: when a second factor was last given, epoch ms. `proofs`: how often it was given on this page; streams reconnect when it grows. */
export type Login = { user: string; sessionId: string; provenAt: number; proofs: number };

export const LoginContext = createContext<Login>({ user: '', sessionId: '', provenAt: 0, proofs: 0 });
export const useLogin = (): Login => useContext(LoginContext);

/** Goes to the sign-in page, and back here afterwards. */
export function goToLogin(): void {
  location.replace(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}
