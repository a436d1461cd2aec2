type Policy = { createScriptURL(url: string): unknown };
type Factory = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): Policy };

/** The one script address that the page may pass to the browser besides those of its own HTML. */
const worker = '/service-worker.js';

/** Registers the service worker, through the policy that the CSP names; once in a page. A browser without one, or one that forbids it, does without. */
export async function registerWorker(onNewVersion: (take: () => void) => void): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
  const policy = factory?.createPolicy('svc', {
    createScriptURL(url) {
      if (url !== worker) throw new TypeError(`No script of ours: ${url}`);
      return url;
    },
  });
  const registration = await navigator.serviceWorker.register((policy?.createScriptURL(worker) ?? worker) as string, {
    updateViaCache: 'none',
  });
  const offer = (waiting: ServiceWorker | null) => {
    if (waiting !== null && navigator.serviceWorker.controller !== null) onNewVersion(() => waiting.postMessage('take-over'));
  };
  offer(registration.waiting);
  registration.addEventListener('updatefound', () => {
    const coming = registration.installing;
    coming?.addEventListener('statechange', () => coming.state === 'installed' && offer(registration.waiting));
  });
}
