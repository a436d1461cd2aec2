import { badRequest, type Exchange, type Route } from '@svc/connector-kit';
import { askerOf, ownKey, queryOf, type Gateway } from '../gateway.ts';
import { sendStream } from '../http/send-stream.ts';

/**
 * `GET /gw/file?path=…`: a file that was sent to or from the device's conversation; with `conversation_key`, of a conversation that its
 * person may see. Always served as a download, so that nothing of it runs in the app's origin.
 */
export const createConversationFileRoute = ({ ctx, meta, authenticate }: Gateway): Route => ({
  method: 'GET',
  path: '/gw/file',
  doc: { summary: 'A file of a conversation', needsKey: true },
  async handle(exchange: Exchange) {
    const device = authenticate(exchange);
    const path = queryOf(exchange, 'path');
    if (path === null || path === '' || path.length > 4096) throw badRequest('The path of the file is required: /gw/file?path=…');
    const own = ownKey({ ctx, meta }, device);
    const key = queryOf(exchange, 'conversation_key') ?? own;
    // The core refuses callers who may not see the conversation.
    if (key !== own) await ctx.core.sessions.history(askerOf({ meta }, device), key, { limit: 1 });
    const { data, bytes, mime } = await ctx.uploads.open(path, { conversation_key: key });
    const { req, res, requestId } = exchange;
    res.writeHead(200, {
      'content-type': mime,
      'content-length': bytes,
      'content-disposition': 'attachment',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'x-request-id': requestId,
    });
    if (req.method === 'HEAD') return void (data.destroy(), res.end());
    await sendStream({ res }, data);
  },
});
