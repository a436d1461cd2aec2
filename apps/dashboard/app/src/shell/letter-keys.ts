const key = 'svc-letter-keys';

/** Whether single letters are commands (WCAG 2.1.4): people who dictate, or hit keys by accident, switch them off. */
export const hasLetterKeys = (): boolean => localStorage.getItem(key) !== 'off';
export const keepLetterKeys = (on: boolean): void => {
  if (on) localStorage.removeItem(key);
  else localStorage.setItem(key, 'off');
};
