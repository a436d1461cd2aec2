const key = 'svc-session-token';

/** The half of the login that only pages of this origin can read; the other half is a cookie that no page can. */
export const readSessionToken = (): string => localStorage.getItem(key) ?? '';
export const keepSessionToken = (token: string): void => localStorage.setItem(key, token);
export const dropSessionToken = (): void => localStorage.removeItem(key);

/** What another tab has done with the tokens, which are those of this one too: it has signed in or given a second factor (`new`), or signed out (`none`). */
export type TokenOfOtherTab = 'new' | 'none';

export function onTokenOfOtherTab(then: (token: TokenOfOtherTab) => void): () => void {
  const listen = ({ key: changed, newValue }: StorageEvent) => {
    if (changed === key) then(newValue === null ? 'none' : 'new');
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
