const key = 'svc-user';

/** Who is signed in in this browser, for the offline page, which cannot ask the service. */
export const lastUser = (): string | null => localStorage.getItem(key);
export const keepLastUser = (user: string): void => localStorage.setItem(key, user);
export const dropLastUser = (): void => localStorage.removeItem(key);
