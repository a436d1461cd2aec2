import { t } from '../language/t.ts';
import { createDrafts } from '../outbox/drafts.ts';
import { Outbox } from '../outbox/outbox.ts';

const lookMs = 3000;

/** Fills the offline page of an app: what was written under this name and waits. Loads the page again when the server answers, or its person says so. */
export async function showWaiting(name: string | null): Promise<void> {
  const again = () => location.reload();
  document.getElementById('again')?.addEventListener('click', again);
  // A network that says that it is back is not always, and a server that was away says nothing.
  setInterval(() => {
    fetch('/manifest.webmanifest', { cache: 'no-store' }).then(
      ({ ok }) => ok && again(),
      () => undefined,
    );
  }, lookMs);
  if (name === null) return;
  const outbox = new Outbox({ name, send: async () => ({ status: 'again' }), onChange: () => undefined });
  const waiting = await outbox.list();
  outbox.close();
  const messages = waiting.map(({ text, files }) =>
    [text, ...files.map((file) => file.name)].filter((part) => part !== '').join('\n'),
  );
  fill('outbox', messages, t('Nothing'));
  fill('drafts', await createDrafts(name).list(), t('None'));
}

function fill(id: string, texts: readonly string[], none: string): void {
  const items = (texts.length === 0 ? [none] : texts).map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  });
  document.getElementById(id)?.replaceChildren(...items);
}
