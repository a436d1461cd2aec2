const key = 'svc-session-token';

/** The half of the login that only pages of this origin can read; the other half is a cookie that no page can. */
export const readSessionToken = (): string => localStorage.getItem(key) ?? '';
export const keepSessionToken = (token: string): void => localStorage.setItem(key, token);
export const dropSessionToken = (): void => localStorage.removeItem(key);
