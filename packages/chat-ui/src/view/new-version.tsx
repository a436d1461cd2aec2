import { useEffect, useState } from 'react';
import { t } from '../language/t.ts';
import { registerWorker } from '../worker/register-worker.ts';

/** Registers the service worker, and offers a new version of the app when there is one: nothing is loaded that its person did not ask for. */
export function NewVersion() {
  const [take, setTake] = useState<(() => void) | null>(null);
  useEffect(() => {
    // Without a worker the app works all the same, but for its page without network.
    registerWorker((found) => setTake(() => found)).catch(() => undefined);
  }, []);
  if (take === null) return null;
  const load = () => {
    navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
    take();
  };
  return (
    <div className="version-bar" role="status">
      {t('A new version is ready.')}
      <button type="button" className="plain-button" onClick={load}>
        {t('Load it')}
      </button>
    </div>
  );
}
