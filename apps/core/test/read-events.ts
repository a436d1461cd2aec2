import { openRequest } from '@svc/service-kit/http/json-client.ts';

export type ServerEvent = { id: string; event: string; data: string };

/**
 * Reads an event stream, `GET /events/stream` unless another is named, as a browser does: lines end with CR, LF or both, an empty one sends what was gathered,
 * and the last id stays until another one comes.
 */
export async function readEvents(url: string, lastEventId?: string, path = '/events/stream') {
  const response = await openRequest(url + path, {
    timeoutMs: 60_000,
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  });
  const events: ServerEvent[] = [];
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];

  const take = (line: string) => {
    if (line === '') {
      if (data.length > 0) events.push({ id, event: event || 'message', data: data.join('\n') });
      [event, data] = ['', []];
      return;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'id') id = value;
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
  };
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    lines.forEach(take);
  });
  response.on('error', () => undefined);
  const ended = new Promise<'whole' | 'broken'>((resolve) =>
    response.on('close', () => resolve(response.complete ? 'whole' : 'broken')),
  );
  return {
    status: response.statusCode,
    events,
    ids: () => events.map((one) => one.id),
    lastId: () => id,
    ended,
    close: () => response.destroy(),
  };
}
