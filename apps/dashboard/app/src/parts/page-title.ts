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

/** Says how much needs the operator: in the title, and at the icon of the installed app, where the browser has a place for it. */
export function setNeedCount(next: number): void {
  if (next === needs) return;
  needs = next;
  show();
  // A browser may refuse a badge, which is not for the page to mind.
  void (next === 0 ? navigator.clearAppBadge?.() : navigator.setAppBadge?.(next))?.catch(() => undefined);
}
