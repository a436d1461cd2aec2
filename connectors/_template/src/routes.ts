import { createJsonReader, sendJson, type Exchange, type Route, type StartContext } from '@svc/connector-kit';
import type { Config } from './meta.ts';
import { parseMessage, type Message } from './parse-message.ts';
import { renderActions } from './render-actions.ts';
import { toEnvelope } from './to-envelope.ts';

const readJson = createJsonReader({ bodyBytes: 1_000_000, totalBytes: 20_000_000 });
const maxFileBytes = 50_000_000;

/** What callers can ask for. `authorize` throws when they may not. */
export function createRoutes(ctx: StartContext<Config>, authorize: (exchange: Exchange) => void): Route[] {
  return [
    {
      method: 'GET',
      path: '/health',
      handle: (exchange) => sendJson(exchange, { status: 200, body: JSON.stringify({ status: 'ok', service: ctx.type }) }),
    },
    {
      method: 'POST',
      path: '/message',
      async handle(exchange) {
        authorize(exchange);
        await answer(ctx, exchange, parseMessage(await readJson(exchange.req)));
      },
    },
    {
      method: 'POST',
      path: '/file',
      async handle(exchange) {
        authorize(exchange);
        await answer(ctx, exchange, await takeFile(ctx, exchange));
      },
    },
  ];
}

/** `POST /file?user=ann&name=cat.png&text=what is this`, with the file as the body. It is streamed, not held in memory. */
async function takeFile(ctx: StartContext<Config>, { req }: Exchange): Promise<Message> {
  const { name, ...fields } = Object.fromEntries(new URL(req.url ?? '', 'http://here').searchParams);
  const message = parseMessage({ text: `I send you ${name ?? 'a file'}.`, ...fields });
  const mime = req.headers['content-type'];
  const file = await ctx.uploads.save({ name: name ?? 'file', mime, data: req, maxBytes: maxFileBytes });
  return { ...message, attachments: [file] };
}

/** The reply goes out on the connection it was asked on. When that is gone, the core pushes it over `send` instead. */
async function answer(ctx: StartContext<Config>, exchange: Exchange, message: Message): Promise<void> {
  const { requestId } = exchange;
  const { actions, outcome } = await ctx.core.handle(toEnvelope(ctx, message), { requestId });
  sendJson(exchange, { status: 200, body: JSON.stringify({ outcome, replies: renderActions(actions) }) });
}
