import { createServer } from 'node:http';
import { listen } from '@svc/testing/listen.ts';

const results: Record<string, unknown> = {
  getMe: { id: 1, is_bot: true, first_name: 'Bot', username: 'the_bot' },
  deleteWebhook: true,
  getUpdates: [],
};

/** A Bot API server on which nothing happens. */
export function startQuietBotApi(token: string): ReturnType<typeof listen> {
  return listen(
    createServer((request, response) => {
      const [, given, method = ''] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? '') ?? [];
      const isKnown = given === token;
      response.statusCode = isKnown ? 200 : 401;
      request.resume();
      const body = isKnown
        ? { ok: true, result: results[method] ?? true }
        : { ok: false, error_code: 401, description: 'Unauthorized' };
      response.end(JSON.stringify(body));
    }),
    0,
  );
}
