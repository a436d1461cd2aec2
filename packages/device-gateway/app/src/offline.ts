import '@svc/chat-ui/style/tokens.css';
import '@svc/chat-ui/style/base.css';
import './app.css';
import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { Outbox } from '@svc/chat-ui/outbox/outbox.ts';
import { readDevice } from './device.ts';

function fill(id: string, texts: readonly string[], none: string): void {
  const items = (texts.length === 0 ? [none] : texts).map((text) => {
    const item = document.createElement('li');
    item.textContent = text;
    return item;
  });
  document.getElementById(id)?.replaceChildren(...items);
}

/** What waits on this device while the gateway cannot be reached. */
async function show(): Promise<void> {
  const device = await readDevice();
  if (device === undefined) return;
  const outbox = new Outbox({ name: device.instance_id, send: async () => ({ status: 'again' }), onChange: () => undefined });
  const waiting = await outbox.list();
  outbox.close();
  const draft = await createDrafts(device.instance_id).read('own');
  fill(
    'outbox',
    waiting.map(({ text, files }) => [text, ...files.map(({ name }) => name)].filter((part) => part !== '').join('\n')),
    'Nothing',
  );
  fill('drafts', draft === '' ? [] : [draft], 'None');
}

const again = () => location.reload();
document.getElementById('again')?.addEventListener('click', again);
addEventListener('online', again);
await show();
