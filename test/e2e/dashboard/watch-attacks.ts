import type { Page } from 'playwright-core';

/** What a page has done because of a text, though it must not; empty when nothing happened. */
export type Attacks = {
  found: readonly string[];
  /** The findings on the page: forbidden elements and attributes, scripts that ran, policy violations. */
  look(): Promise<string[]>;
};

/** Watches for every effect that a text could have on a page beyond being shown. */
export async function watchAttacks(page: Page, origin: string): Promise<Attacks> {
  const found: string[] = [];
  const isOurs = (url: string) => url.startsWith(`${origin}/`) || url.startsWith(`blob:${origin}/`);
  page.on('request', (request) => void (isOurs(request.url()) || found.push(`asked for ${request.url()}`)));
  page.on('requestfailed', (request) => void (isOurs(request.url()) || found.push(`was kept from ${request.url()}`)));
  page.on('framenavigated', (frame) => void (isOurs(frame.url()) || found.push(`went to ${frame.url()}`)));
  page.on('frameattached', (frame) => void found.push(`a frame: ${frame.url()}`));
  page.on('popup', (popup) => void found.push(`opened ${popup.url()}`));
  page.on('download', (download) => void found.push(`saved ${download.url()}`));
  page.on('pageerror', (error) => void found.push(`failed: ${String(error)}`));
  page.on('dialog', (dialog) => {
    found.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content.Security.Policy|Trusted ?Type|Failed to load resource: net/i.test(message.text())) found.push(message.text());
  });
  await page.addInitScript(keepReports);
  return { found, look: () => page.evaluate(lookAtPage) as Promise<string[]> };
}

const keepReports = `
  globalThis.reports = [];
  addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    reports.push([violatedDirective, blockedURI, sample].join(' ')));`;

const lookAtPage = `(() => {
  const elements = 'style, base, meta[http-equiv], iframe, frame, object, embed, video, audio, source, template, math, marquee, form[action]';
  const attributes = /^(?:on|srcdoc|ping|formaction|poster|autofocus|contenteditable|popover)/;
  const leading = new Set(['href', 'xlink:href', 'src', 'srcset', 'data', 'background']);
  const faults = [...document.querySelectorAll(elements)].map((element) => 'made ' + element.outerHTML.slice(0, 200));
  for (const element of document.querySelectorAll('*'))
    for (const { name, value } of element.attributes) {
      const isOurs = () => {
        const url = URL.parse(value, location.href);
        return url?.origin === location.origin && /^(?:https?|blob):$/.test(url.protocol);
      };
      const leadsOut = element.matches('a[target=_blank][rel="noopener noreferrer"]') && /^(?:https?|mailto):/.test(value);
      const isBad = leading.has(name) ? !leadsOut && !isOurs() : attributes.test(name);
      if (isBad || (name === 'style' && /url|expression|fixed/.test(value))) faults.push('made ' + name + '="' + value + '" of ' + element.tagName);
    }
  if (globalThis.hit !== undefined) faults.push('ran a script');
  return [...faults, ...reports.splice(0)];
})()`;
