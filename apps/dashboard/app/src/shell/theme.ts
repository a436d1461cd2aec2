const key = 'svc-theme';
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const readTheme = (): Theme => themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system';

/** Shows the theme that was chosen, or that of the system. */
export function applyTheme(theme: Theme = readTheme()): void {
  document.documentElement.dataset['theme'] = theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')) {
    const isDark = theme === 'system' ? meta.media.includes('dark') : theme === 'dark';
    meta.content = isDark ? '#121418' : '#ffffff';
  }
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(key, theme);
  applyTheme(theme);
}
