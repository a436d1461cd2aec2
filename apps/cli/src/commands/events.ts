import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askCollector, followCollector } from '../service-client.ts';
import { CliError } from '../cli-error.ts';
import { renderEvent } from '../insights/render-insights.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print } from '../terminal.ts';

export type EventsOptions = {
  follow?: boolean;
  lines: number;
  surface?: string;
  session?: string;
  identity?: string;
  /** Epoch ms. */
  since?: number;
  json?: boolean;
};

/** The last events, oldest first; with `follow` also new ones, until Ctrl-C. */
export async function events(options: EventsOptions): Promise<number> {
  const { follow, lines, surface, session, identity, since, json } = options;
  const settings: CliSettings = loadSettings(repositoryRoot);
  const style = createStyle(process.stdout);
  const show = (event: TelemetryEvent) => print(json === true ? JSON.stringify(event) : renderEvent(event, style));
  // The feed is opened first, so that no event is lost in between.
  const feed = follow === true ? followCollector(settings) : null;
  const coming = feed?.next();
  coming?.catch(() => undefined); // thrown below
  const shown = new Set<string>();
  if (lines > 0) {
    const query = { limit: Math.min(lines, 1000), surface, session, identity, since };
    const page = await askCollector<{ events: TelemetryEvent[] }>(settings, '/api/events', query);
    for (const event of page.events.toReversed()) {
      shown.add(event.id);
      show(event);
    }
  }
  if (feed === null || coming === undefined) return exitCodes.ok;
  for (let item = await coming; item.done !== true; item = await feed.next()) {
    if (item.value.event !== 'event') continue;
    const event = JSON.parse(item.value.data) as TelemetryEvent;
    if (!shown.has(event.id) && matches(event, options)) show(event);
  }
  throw new CliError('the collector went down.', { why: 'The event feed ended.', run: './svc status' });
}

const matches = (event: TelemetryEvent, { surface, session, identity }: EventsOptions): boolean =>
  (surface === undefined || event.surface === surface) &&
  (session === undefined || event.session === session) &&
  (identity === undefined || event.identity === identity);
