import { setTimeout as delay } from 'node:timers/promises';
import type { SessionStreamFrame } from '@svc/contract/session.ts';
import { followCore } from '../service-client.ts';
import { createStyle, print } from '../terminal.ts';
import { createWatchView } from './watch-view.ts';

/** Delays the next request after a stream that ended at once. */
const pauseMs = 500;

/**
 * Shows a conversation live, until Ctrl-C; with `json` one frame a line. It continues after the core was down. `url`: of the session.
 * @throws CliError when the core stays down, or refuses
 */
export async function watchSession(url: string, { json }: { json?: boolean }): Promise<never> {
  const view = createWatchView((text) => void process.stdout.write(text), createStyle(process.stdout));
  let lastId: string | undefined;
  for (;;) {
    const help = { what: 'it cannot be watched.', run: './svc session list --all' };
    for await (const { id, data } of followCore(`${url}/stream`, lastId, help)) {
      lastId = id ?? lastId;
      if (json === true) print(data);
      else view.show(JSON.parse(data) as SessionStreamFrame);
    }
    view.broken();
    await delay(pauseMs);
  }
}
