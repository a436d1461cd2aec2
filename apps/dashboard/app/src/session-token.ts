const key = 'svc-session-token';

/** The half of the login that only pages of this origin can read; the other half is a cookie that no page can. */
export const readSessionToken = (): string => localStorage.getItem(key) ?? '';
export const keepSessionToken = (token: string): void => localStorage.setItem(key, token);
export const dropSessionToken = (): void => localStorage.removeItem(key);

/** Calls back when another tab has signed in, or has given a second factor: its tokens are those of this one too. */
export function onTokenOfOtherTab(then: () => void): () => void {
  const listen = ({ key: changed, newValue }: StorageEvent) => {
    if (changed === key && newValue !== null) then();
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}
