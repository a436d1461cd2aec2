import { t } from '@svc/chat-ui/language/t.ts';

let name = '';
let needs = 0;

const show = (): void => {
  document.title = `${needs > 0 ? `(${needs}) ` : ''}${t('{screen} · Assistant', { screen: name })}`;
};

/** Names the screen that is shown. */
export function setPageTitle(next: string): void {
  name = next;
  show();
}

/** Shows how many rows need the operator: in the title, and as a badge of the installed app where the browser supports it. */
export function setNeedCount(next: number): void {
  if (next === needs) return;
  needs = next;
  show();
  // A browser may refuse a badge; the page works without it.
  void (next === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(next))?.catch(() => undefined);
}
